import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';

describe('what keeps the gateway from publishing a request', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let bus: Bus;
  let publish: Bus['publish'];
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime);
    bus = system.embedded.runtime.bus;
    publish = bus.publish.bind(bus);
  });
  afterEach(() => void (bus.publish = publish));
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  it.each([
    ['passes', new Fault('storage', 'Kafka at broker-1 refuses connections.', true), 503, /Try again/],
    ['only its operator can mend', new Fault('storage', 'Kafka at broker-1 does not allow it.', false), 500, /its log/],
    ['nobody foresaw', new Error('broker-1'), 500, /its log/],
    ['its sender can mend', new Fault('invalid_request', 'Make it shorter.', false), 400, /^Make it shorter\.$/],
  ])(
    'if it is something that %s, is explained to its sender as far as that helps',
    async (_, fault, status, sentence) => {
      bus.publish = () => Promise.reject(fault);
      const response = await post(`${gateway.url}/v1/runs`, { question: 'Q' });
      const { error } = (await response.json()) as { error: { message: string } };
      expect([response.status, error.message]).toEqual([status, expect.stringMatching(sentence)]);
      expect(error.message).not.toContain('broker-1');
      expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
      if (status !== 400) expect(JSON.stringify(await system.lines())).toContain('broker-1');
      expect(await system.metric('sluice_followed_runs')).toBe(0);
    },
  );
});

it('says by its answers that a connection ends, once the gateway is stopped', async () => {
  const system = await startSystem(workflowConfiguration(), new ScriptedModel(() => ({ answer: 'done' })));
  const gateway = await startGateway(system.embedded.runtime);
  const groups = (): Promise<Response> => fetch(`${gateway.url}/v1/runs/none`);
  expect((await groups()).headers.get('connection')).toBe('keep-alive');
  const closed = gateway.close();
  expect((await groups()).headers.get('connection')).toBe('close');
  await closed;
  await expect(groups()).rejects.toThrow('fetch failed');
  await system.close();
});

describe('what keeps the gateway from reading on', () => {
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), new ScriptedModel(() => ({ answer: 'done' })));
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  it('ends the stream with a word on that, and is in the log', async () => {
    const asked = await post(`${gateway.url}/v1/runs`, { question: 'Q' }, { prefer: 'wait=20' });
    const { bus } = system.embedded.runtime;
    const read = bus.read.bind(bus);
    bus.read = async function* (...given: Parameters<Bus['read']>) {
      let left = 2;
      for await (const message of read(...given)) {
        if (left-- === 0) throw new Fault('storage', 'Kafka at broker-1 refuses connections.', true);
        yield message;
      }
    } as Bus['read'];
    try {
      const place = `${gateway.url}${asked.headers.get('location') ?? ''}`;
      const chunks = await chunksOf(await fetch(place, { headers: streamed }));
      expect(chunks.slice(-2)).toMatchObject([
        { type: 'error', code: 'interrupted', error: expect.stringContaining('GET /v1/runs/') },
        { type: 'message-finish', finishReason: 'error' },
      ]);
      expect(JSON.stringify(chunks)).not.toContain('broker-1');
      expect(JSON.stringify(await system.lines())).toContain('broker-1');
      expect(await system.metric('sluice_followed_runs')).toBe(0);
    } finally {
      bus.read = read;
    }
  });
});
