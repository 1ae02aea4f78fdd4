import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { chunksOf, post, streamed } from './over-http.js';

const many = 200;

describe('the gateway among two hundred clients at a time', () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const model = new ScriptedModel(async ({ question }) => {
      if (question === 'held') await held;
      return { answer: `To ${question}.` };
    });
    system = await startSystem(workflowConfiguration(), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release();
    await gateway.close();
    await system.close();
  });

  const ask = (question: string): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { question, group: [] }, { prefer: 'wait=20' }, AbortSignal.timeout(120_000));

  it.each([
    ['that send their headers byte by byte', 'POST /v1/runs HTTP/1.1\r\nhost: localhost\r\nx-slow: '],
    [
      'that send their body byte by byte',
      'POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"question":"',
    ],
    ['that connect and say nothing', ''],
  ])('%s: others are answered, nothing is begun for them, and the gateway ends in time', async (_, begun) => {
    const before = (await system.all('agent.requests')).length;
    const own = await startGateway(system.embedded.runtime);
    const { hostname, port } = new URL(own.url);
    const sockets: Socket[] = Array.from({ length: many }, () =>
      connect(Number(port), hostname).on('error', () => undefined),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const send = (text: string): void => {
      for (const socket of sockets) if (text !== '' && socket.writable) socket.write(text);
    };
    send(begun);
    const dripping = setInterval(() => send(begun === '' ? '' : 'a'), 100);
    const response = await post(`${own.url}/v1/runs`, { question: 'me', group: [] }, { prefer: 'wait=20' }, AbortSignal.timeout(120_000));
    expect(await response.json()).toMatchObject({ answer: 'To me.' });
    expect((await system.all('agent.requests')).length).toBe(before + 1);
    const stopped = performance.now();
    await own.close();
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
    expect(performance.now() - stopped).toBeLessThan(system.embedded.runtime.environment.drainMs + 5_000);
  }); // prettier-ignore

  it('that follow streams: each gets its own run to the end, and others are answered meanwhile', async () => {
    const streams = await Promise.all(
      Array.from({ length: many }, (_, index) =>
        post(`${gateway.url}/v1/runs`, { question: 'held', group: [], request_id: `held-${index}` }, streamed),
      ),
    );
    const reading = streams.map(chunksOf);
    await eventually(
      () => system.metric('sluice_followed_runs'),
      (followed) => followed === many,
    );
    const listed = await fetch(`${gateway.url}/v1/tools?group=*`, { signal: AbortSignal.timeout(120_000) });
    expect(listed.status).toBe(200);
    release();
    for (const [index, chunks] of (await Promise.all(reading)).entries()) {
      const text = JSON.stringify(chunks);
      expect(text).toContain(`"held-${index}"`);
      expect(text).toContain('To held.');
      expect(chunks.at(-1)).toMatchObject({ type: 'message-finish', finishReason: 'stop' });
    }
    await eventually(
      () => system.metric('sluice_followed_runs'),
      (followed) => followed === 0,
    );
    expect((await ask('another')).status).toBe(200);
  });
});
