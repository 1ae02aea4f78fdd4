import { describe, expect, it } from '@jest/globals';
import type { Bus, HandlerContext, Incoming, Outgoing, Subscription } from '@sluice/bus';
import { BusTransport } from '../src/bus-transport.js';
import { noTraces } from '../src/traces/traces.js';

/** How a record is handled that leads to these: what was called, in order. */
async function handled(outputs: readonly Outgoing[]): Promise<readonly string[]> {
  const called: string[] = [];
  let subscribed: Subscription | undefined;
  const bus: Pick<Bus, 'subscribe'> = {
    subscribe: (subscription) => {
      subscribed = subscription;
      return Promise.reject(new Error('Nothing is consumed here.'));
    },
  };
  const transport = new BusTransport(bus as Bus, noTraces, {
    ...{ group: 'filter', drainMs: 0, concerns: () => true },
    through: () => () => called.push('counted'),
  });
  transport.addHandler('agent.steps', () => Promise.resolve(outputs));
  await new Promise((resolve) => transport.listen(resolve));
  const context = { afterCommit: () => called.push('for the commit') } as Partial<HandlerContext> as HandlerContext;
  const record = { requestId: '', sessionId: '' };
  const message = { topic: 'agent.steps', headers: {}, record } as unknown as Incoming;
  expect(await subscribed?.handle(message, context)).toEqual(outputs);
  return called;
}

const output = { topic: 'agent.responses', key: 's', record: {} } as unknown as Outgoing;

describe('a record that a service has handled', () => {
  it('leaves nothing for its commit where it led to nothing, so that none is made for it alone', async () => {
    expect(await handled([])).toEqual(['counted']);
  });

  it('is counted with its commit where it led to something', async () => {
    expect(await handled([output])).toEqual(['for the commit']);
  });
});
