import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssistantMessage } from 'assistant-stream';
import { decide, runMessages } from '../../examples/assistant-ui/src/gateway.js';
import type { Gateway } from '../../examples/assistant-ui/src/gateway.js';
import { eventually } from '../harness/eventually.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

/** Its page, in a browser’s stead: `npm run test:wide -- clients`. */
describe('the example for assistant-ui', () => {
  let fixture: Fixture;
  let ann: Gateway;
  let boss: Gateway;
  beforeAll(async () => {
    fixture = await startFixture();
    const { url } = fixture.proxy;
    ann = { url, token: await fixture.token('ann') };
    boss = { url, token: await fixture.token('boss') };
  });
  afterAll(() => fixture.close());

  const ask = (question: string, session: string, signal: AbortSignal, more: object = {}) =>
    runMessages(ann, { question, session_id: session, group: ['*'], ...more }, signal);
  const patience = (): AbortSignal => AbortSignal.timeout(90_000);
  const partsOf = ({ parts }: AssistantMessage): readonly unknown[] =>
    parts.map((part) => (part.type === 'text' ? part.text : part.type === 'tool-call' ? part.toolName : part.type));

  it('reads a run as a message that grows, with calls and the answer', async () => {
    const states: AssistantMessage[] = [];
    for await (const message of ask('Look', 'ui-look', patience())) states.push(message);
    const last = states.at(-1) as AssistantMessage;
    expect(partsOf(last).filter((part) => part !== 'data')).toEqual(['core__knowledge-query', 'Found.']);
    expect(last.parts).toContainEqual(expect.objectContaining({ type: 'tool-call', state: 'result', isError: false }));
    expect(last.status).toMatchObject({ type: 'complete' });
    expect(states.length).toBeGreaterThan(3);
    expect(states[0]?.status).toEqual({ type: 'running' });
  });

  it('decides on a call that waits, by what its part holds', async () => {
    let decided = false;
    let last: AssistantMessage | undefined;
    for await (const message of ask('Reset', 'ui-reset', patience(), { state: 'analysis' })) {
      last = message;
      const part = message.parts.find((one) => one.type === 'data' && one.name === 'approval_requested');
      if (part?.type !== 'data' || decided) continue;
      decided = true;
      await decide(boss, part.data as object, 'approve');
    }
    expect(decided).toBe(true);
    expect(last?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Found.' });
  });

  it('cancels the run where the reader stops it', async () => {
    const stop = new AbortController();
    for await (const { parts } of ask('Slow', 'ui-slow', stop.signal))
      if (parts.some((part) => part.type === 'data')) stop.abort();
    const headers = { authorization: `Bearer ${ann.token ?? ''}` };
    await eventually(
      async () => (await fetch(`${ann.url}/v1/runs?session_id=ui-slow`, { headers })).json(),
      (list) => (list as { readonly runs: readonly { readonly outcome: string }[] }).runs[0]?.outcome === 'cancelled',
    );
  });

  it('says what the gateway says of a request that it refuses', async () => {
    await expect(ask('', 'ui-empty', patience()).next()).rejects.toThrow('The question is empty.');
  });
});
