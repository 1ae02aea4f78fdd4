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
import { post, streamed } from './over-http.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-http-limit-'));
const keyFile = join(folder, 'issuer.json');
const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;

type Headers = Readonly<Record<string, string>>;

describe('the limit of a caller’s requests', () => {
  let system: TestSystem;
  let gateways: readonly Gateway[];
  let as: (sub: string, tenant?: string) => Promise<Headers>;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (sub, tenant = 'acme') => ({
      authorization: `Bearer ${await users.token({ sub, tenant, tool_groups: ['*'] })}`,
    });
    system = await startSystem(workflowConfiguration({ limits }), new ScriptedModel(() => ({ answer: 'done' })));
    const { runtime } = system.embedded;
    const limited = { ...runtime, environment: { ...runtime.environment, httpRequestsPerMinute: 3 } };
    gateways = [await startGateway(limited), await startGateway(limited)];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = (n: number): string => gateways[n % 2]?.url ?? '';
  const get = (n: number, path: string, headers: Headers) => fetch(`${url(n)}${path}`, { headers });

  it('holds over all instances and routes, and is shown in headers', async () => {
    const ann = await as('ann');
    const answers = [
      await get(0, '/v1/groups', ann),
      await get(1, '/v1/runs?limt=1', ann),
      await post(`${url(2)}/v1/runs`, { question: 'Q' }, { ...ann, ...streamed }),
    ];
    for (const [n, answer] of answers.entries()) {
      expect([n, answer.headers.get('ratelimit-policy')]).toEqual([n, '"minute";q=3;w=60']);
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"minute";r=${2 - n};t=([1-9]|[1-5][0-9]|60)$`));
      await answer.text();
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);

    const published = (await system.all('agent.requests')).length;
    const refused = await post(`${url(3)}/v1/runs`, { question: 'Q' }, ann);
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'rate_limited', status: 429 }]);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(refused.headers.get('ratelimit')).toBe(`"minute";r=0;t=${wait}`);
    expect((await system.all('agent.requests')).length).toBe(published);
    expect(await system.metric('sluice_http_requests_total', { route: '/v1/runs', status: '429' })).toBe(1);
  });

  it('is one of each caller: others, and the same name in another tenant, have their own', async () => {
    const amy = await as('amy');
    for (let n = 0; n < 3; n++) expect((await get(n, '/v1/groups', amy)).status).toBe(200);
    expect((await get(0, '/v1/groups', amy)).status).toBe(429);
    expect((await get(1, '/v1/groups', await as('amy', 'other'))).status).toBe(200);
    expect((await get(1, '/v1/groups', await as('bob'))).status).toBe(200);
  });

  it('counts no caller whose credential does not hold, and not the description', async () => {
    for (let n = 0; n < 5; n++) {
      expect((await get(n, '/v1/groups', { authorization: 'Bearer e30.e30.e30' })).status).toBe(401);
      const open = await get(n, '/openapi.json', {});
      expect([open.status, open.headers.get('ratelimit')]).toEqual([200, null]);
    }
  });

  it('is none unless it is set', async () => {
    const gateway = await startGateway(system.embedded.runtime);
    try {
      const ann = await as('ann');
      for (let n = 0; n < 5; n++) {
        const response = await fetch(`${gateway.url}/v1/groups`, { headers: ann });
        expect([response.status, response.headers.get('ratelimit')]).toEqual([200, null]);
      }
    } finally {
      await gateway.close();
    }
  });
});
