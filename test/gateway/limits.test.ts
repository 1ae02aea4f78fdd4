import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post, streamed } from './over-http.js';

describe('limits of the gateway by its environment', () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    const model = new ScriptedModel(() => held.then(() => ({ answer: 'done' })));
    const { http } = readEnvironment({
      SLUICE_HTTP_BODY_BYTES: '2048',
      SLUICE_HTTP_HEADER_BYTES: '4096',
      SLUICE_HTTP_REQUEST_SECONDS: '2',
      SLUICE_HTTP_STREAMS: '2',
    });
    system = await startSystem(workflowConfiguration(), model, undefined, { http });
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    release();
    await gateway.close();
    await system.close();
  });

  /** What a connection is answered that sends this and no more. */
  const answered = async (text: string): Promise<string> => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let answer = '';
    socket.on('data', (data: string) => (answer += data)).on('error', () => undefined);
    socket.write(text);
    await once(socket, 'close');
    return answer;
  };

  it('hold a body to SLUICE_HTTP_BODY_BYTES', async () => {
    const response = await post(`${gateway.url}/v1/runs`, { question: 'x'.repeat(3_000) });
    expect([response.status, await response.json()]).toMatchObject([413, { code: 'too_large', detail: expect.stringContaining('SLUICE_HTTP_BODY_BYTES') }]); // prettier-ignore
    expect((await system.all('agent.requests')).length).toBe(0);
  });

  it('hold headers to SLUICE_HTTP_HEADER_BYTES, with a problem as everywhere', async () => {
    const answer = await answered(`GET /v1/runs HTTP/1.1\r\nhost: localhost\r\nx-long: ${'x'.repeat(8_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 [\s\S]*application\/problem\+json[\s\S]*"code":"too_large"/);
  });

  it('hold a sender to SLUICE_HTTP_REQUEST_SECONDS', async () => {
    const begun =
      'POST /v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"q';
    expect(await answered(begun)).toMatch(/^HTTP\/1\.1 408 [\s\S]*within 2 seconds/);
    expect(await answered('no http at all\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/);
  });

  it('hold streams to SLUICE_HTTP_STREAMS, and one that ends leaves room', async () => {
    const stops = [1, 2].map(() => new AbortController());
    const streams = await Promise.all(
      stops.map(({ signal }) => post(`${gateway.url}/v1/runs`, { question: 'Q', group: [] }, streamed, signal)),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const third = await post(`${gateway.url}/v1/runs`, { question: 'Q', group: [] }, streamed);
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await third.json()).toMatchObject({ code: 'busy' });
    stops.forEach((stop) => stop.abort());
    await Promise.allSettled(streams.map((response) => response.text()));
    for (let tries = 0; ; tries++) {
      const { status } = await post(`${gateway.url}/v1/runs`, { question: 'Q', group: [] });
      if (status === 202 || tries > 500) return expect(status).toBe(202);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it.each([
    ['SLUICE_HTTP_BODY_BYTES', '100', /whole number from 1024 to 16777216/],
    ['SLUICE_HTTP_HEADER_BYTES', 'many', /from 4096/],
    ['SLUICE_HTTP_STREAMS', '0', /from 1 to 100000/],
    ['SLUICE_HTTP_AUDIT_DAYS', '-1', /from 0/],
  ])('says what %s must be', (name, value, sentence) => {
    expect(() => readEnvironment({ [name]: value })).toThrow(sentence);
  });
});
