import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { post } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-repeated-'));
const keyFile = join(folder, 'issuer.json');
const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;

type Headers = Readonly<Record<string, string>>;
type Answer = readonly [number, Readonly<Record<string, unknown>>];

describe('a request that comes again over HTTP', () => {
  let system: TestSystem;
  let gateway: Gateway;
  let ann: Headers;
  let bob: Headers;
  let otherAnn: Headers;

  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const as = async (sub: string, tenant = 'acme'): Promise<Headers> => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    [ann, bob, otherAnn] = [await as('ann'), await as('bob'), await as('ann', 'other')];
    const model = new ScriptedModel(({ question }) => ({ answer: `To “${question}”.` }));
    system = await startSystem(workflowConfiguration({ limits: identity }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (body: object, headers: Headers): Promise<Answer> => {
    const asked = await post(`${gateway.url}/v1/runs`, { group: ['*'], ...body }, { prefer: 'wait=30', ...headers });
    return [asked.status, (await asked.json()) as Record<string, unknown>];
  };
  const published = async (id: unknown) =>
    (await system.all('agent.requests')).filter(({ record }) => record.requestId === id).length;

  it.each([{}, { session_id: 'one' }])(
    'is the run that it was, with %j, and another request is refused',
    async (more) => {
      const body = { question: 'First', request_id: `same-${Object.keys(more).length}`, ...more };
      const first = await ask(body, ann);
      expect(first).toMatchObject([200, { answer: 'To “First”.' }]);
      expect(await ask(body, ann)).toEqual(first);
      expect(await published(body.request_id)).toBe(1);
      for (const [other, who] of [
        [{ ...body, question: 'Second' }, ann],
        [{ ...body, state: 'analysis' }, ann],
        [{ ...body, session_id: 'two' }, ann],
        [body, bob],
      ] as const)
        expect(await ask(other, who)).toMatchObject([409, { code: 'conflict' }]);
      expect(await published(body.request_id)).toBe(1);
    },
  );

  it('is found by its idempotency key, which is the caller’s own', async () => {
    const key = { 'idempotency-key': 'order-7' };
    const first = await ask({ question: 'Mine' }, { ...ann, ...key });
    expect(first).toMatchObject([200, { answer: 'To “Mine”.' }]);
    expect(await ask({ question: 'Mine' }, { ...ann, ...key })).toEqual(first);
    expect(await published(first[1]['request_id'])).toBe(1);
    expect(await ask({ question: 'Another' }, { ...ann, ...key })).toMatchObject([409, { code: 'conflict' }]);
    expect(await ask({ question: 'Bob’s' }, { ...bob, ...key })).toMatchObject([200, { answer: 'To “Bob’s”.' }]);
    // An id is taken in a tenant, so that the same user of another one has a run of its own too.
    const others = await ask({ question: 'Other’s' }, { ...otherAnn, ...key });
    expect(others).toMatchObject([200, { answer: 'To “Other’s”.' }]);
  });

  it.each([
    [{ 'idempotency-key': 'a b' }, {}, 'without blanks'],
    [{ 'idempotency-key': 'x'.repeat(256) }, {}, '1 to 255 characters'],
    [{ 'idempotency-key': 'x' }, { request_id: 'y' }, 'not both'],
  ])('is refused with %j and %j', async (headers, body, message) => {
    expect(await ask({ question: 'Look', ...body }, { ...ann, ...headers })).toMatchObject([
      400,
      { detail: expect.stringContaining(message) },
    ]);
  });
});
