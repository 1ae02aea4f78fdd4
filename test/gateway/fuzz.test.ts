import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { httpErrors } from '@sluice/core';
import { readEnvironment } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { openApi } from '../../apps/gateway/src/openapi/document.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { inOrder, ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { localHeaders } from '../harness/local-headers.js';
import { exampleOf, requestsTo } from './from-openapi.js';
import type { Document, Sent } from './from-openapi.js';
import { post } from './over-http.js';

/** Of each operation, the first of them as its description shows it. */
const requestsEach = 40;

const operations = Object.entries((openApi() as unknown as Document).paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => [described.operationId, path, method, described] as const),
);

describe('the gateway under requests from its own description', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let document: Document;
  let secret: ReturnType<typeof localHeaders>;
  beforeAll(async () => {
    const look = inOrder({ calls: [calls.query] }, { answer: 'Found.' });
    const model = new ScriptedModel((asked) => (asked.question === 'Look' ? look(asked) : { answer: 'done' }));
    const { http } = readEnvironment({ SLUICE_HTTP_REQUEST_SECONDS: '3' });
    system = await startSystem(workflowConfiguration({}), model, undefined, { http });
    gateway = await startGateway(system.embedded.runtime);
    secret = localHeaders(system.embedded.runtime);
    document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
    const body = { question: 'Look', group: ['*'], request_id: 'there', session_id: 's' };
    await post(`${gateway.url}/v1/runs`, body, { prefer: 'wait=30' });
    await system.bus.appendRaw('agent.steps', 'forged', Buffer.from('{'));
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
  });

  /** Operations that answered something else than a refusal. */
  const served = new Set<string>();

  const send = ({ method, path, headers, body }: Sent): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${gateway.url}`,
        { method, path, headers: { ...secret, ...headers }, setDefaultHeaders: true },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', reject);
          const answer = (): void => {
            const text = Buffer.concat(parts).toString();
            resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text });
          };
          response.on('end', answer);
          // The stream of approvals has no end.
          if (response.headers['content-type']?.startsWith('text/event-stream') !== true) return;
          setTimeout(() => {
            answer();
            response.destroy();
          }, 500).unref();
        },
      );
      sent.on('error', reject);
      sent.end(body ?? undefined);
    });

  it.each(operations)('%s answers what its description has, and never 500', async (id, path, method, described) => {
    const statuses = new Set([...Object.keys(described.responses), '400', '404', '413', '415', '304']);
    await fc.assert(
      fc.asyncProperty(requestsTo(path, method, described, document), async (sent) => {
        const { status, type, text } = await send(sent);
        // With an empty name in its place it is the path of the list, which may not take this method.
        const ofList = /\/(?:\?|$)/.test(sent.path) ? ['405'] : [];
        expect([...statuses, ...ofList, '503']).toContain(String(status));
        expect(status).not.toBe(500);
        if (status < 400) return void served.add(id);
        expect(type).toBe('application/problem+json; charset=utf-8');
        const { code, detail } = JSON.parse(text) as { readonly code: string; readonly detail: string };
        expect(Object.keys(httpErrors)).toContain(code);
        expect(detail.length).toBeGreaterThan(10);
        if (status === 503) expect(code).toBe('busy');
      }),
      { numRuns: requestsEach, examples: [[exampleOf(path, method, described)]] },
    );
  });

  /** All that a connection is answered on which this is sent, up to its end. */
  const answered = async (...parts: readonly (string | Buffer)[]): Promise<string> => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).setEncoding('latin1');
    let text = '';
    socket.on('data', (data: string) => (text += data)).on('error', () => undefined);
    for (const part of parts) socket.write(part);
    await once(socket, 'close');
    return text;
  };
  const head = (headers: string): string =>
    `POST /v1/runs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
  const whole = (body: string | Buffer, more = ''): readonly [string, string | Buffer] => [
    head(`${more}content-length: ${Buffer.byteLength(body)}`),
    body,
  ];
  const nested = (depth: number): string => `{"question":"Q","history":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const inObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const long = gzipSync(Buffer.from(`{"question":"${'x'.repeat(40_000_000)}"}`));

  it.each<readonly [string, () => readonly (string | Buffer)[], RegExp]>([
    ['lists within lists, 200,000 deep', () => whole(nested(200_000)), /^HTTP\/1\.1 400 /],
    ['objects within objects, 100,000 deep', () => whole(inObjects(100_000)), /^HTTP\/1\.1 400 /],
    [
      'a body that is no UTF-8',
      () => whole(Buffer.from('{"question":"\xff\xfe"}', 'latin1')),
      /^HTTP\/1\.1 400 [^]*UTF-8/,
    ],
    ['a length above what comes', () => [head('content-length: 900'), '{"question":"Q"}'], /^HTTP\/1\.1 408 /],
    ['a length below what comes', () => [head('content-length: 5'), '{"question":"Q"}'], /^HTTP\/1\.1 400 /],
    ['a length that is no number', () => [head('content-length: many'), '{}'], /^HTTP\/1\.1 400 /],
    ['a negative length', () => [head('content-length: -1'), '{}'], /^HTTP\/1\.1 400 /],
    ['two lengths', () => [head('content-length: 2\r\ncontent-length: 3'), '{}'], /^HTTP\/1\.1 400 /],
    [
      'a length beside chunks',
      () => [head('content-length: 2\r\ntransfer-encoding: chunked'), '{}'],
      /^HTTP\/1\.1 400 /,
    ],
    ['a chunk that is none', () => [head('transfer-encoding: chunked'), 'zz\r\n{}\r\n'], /^HTTP\/1\.1 400 /],
    ['a length beyond any memory', () => [head('content-length: 99999999999'), '{'], /^HTTP\/1\.1 413 /],
    ['a small body that unpacks to 40 MB', () => whole(long, 'content-encoding: gzip\r\n'), /^HTTP\/1\.1 413 /],
    ['packed bytes that are none', () => whole('{"question":"Q"}', 'content-encoding: gzip\r\n'), /^HTTP\/1\.1 400 /],
    ['a NUL in a header', () => [head('x-nul: a\u0000b')], /^HTTP\/1\.1 400 /],
    [
      'ten thousand headers',
      () => [head(Array.from({ length: 10_000 }, (_, n) => `x-${n}: 1`).join('\r\n'))],
      /^HTTP\/1\.1 431 /,
    ],
    ['bytes that are no HTTP', () => [Buffer.from([0x16, 3, 1, 0, 200, 0, 0, 13, 10, 13, 10])], /^HTTP\/1\.1 400 /],
  ])('refuses %s, early and with what to change', async (_, parts, answer) => {
    const text = await answered(...parts());
    expect(text.slice(0, 2_000)).toMatch(answer);
    expect(text).toMatch(/application\/problem\+json/);
  });

  it('is asked properly too: most operations have served something', () => {
    // These name what is not there, as a run, an approval, a schedule or the version in force.
    const needLuck = [
      'signIn',
      'renewSignIn',
      'attest',
      'readRun',
      'readVerdicts',
      'readRecords',
      'listContent',
      'readContent',
      'cancelRun',
      'requestCancellation',
      'readGroup',
      'readApproval',
      'decide',
      'decideAll',
      'decideById',
      'createSubscription',
      'changeSubscription',
      'deleteSubscription',
      'renewSubscriptionSecret',
      'listDeliveries',
      'receiveHook',
      'pauseSchedule',
      'resumeSchedule',
      'runSchedule',
      'giveStandingApproval',
      'revokeStandingApproval',
      'readDeadLetter',
      'redrive',
      'applyConfiguration',
      'acceptServerChanges',
    ];
    const expected = operations.map(([id]) => id).filter((id) => ![...needLuck, 'readSpecification'].includes(id));
    expect(expected.filter((id) => !served.has(id))).toEqual([]);
  });

  it('works as before after all this, and its log has no failure', async () => {
    const run = await post(`${gateway.url}/v1/runs`, { question: 'Hello', group: [] }, { prefer: 'wait=30' });
    expect([run.status, await run.json()]).toMatchObject([200, { answer: 'done' }]);
    const failed = (await system.lines()).filter(({ msg }) => msg === 'a request over HTTP failed');
    expect(failed).toEqual([]);
  });
});

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}
