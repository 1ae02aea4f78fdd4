import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { getWithHost, post, streamed } from './over-http.js';

const ours = 'https://app.example.com';
const theirs = 'https://evil.example.com';

describe('pages in a browser', () => {
  let system: TestSystem;
  let open: Gateway;
  let closed: Gateway;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration(), new ScriptedModel(() => ({ answer: 'done' })));
    const { runtime } = system.embedded;
    const { httpOrigins } = readEnvironment({ SLUICE_HTTP_ORIGINS: `${ours}, http://localhost:5173` });
    open = await startGateway({ ...runtime, environment: { ...runtime.environment, httpOrigins } });
    closed = await startGateway(runtime);
  });
  afterAll(async () => {
    await open.close();
    await closed.close();
    await system.close();
  });
  const asking = (url: string, origin: string): Promise<Response> =>
    fetch(`${url}/v1/runs`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
  const allowed = ({ headers }: Response): unknown => headers.get('access-control-allow-origin');

  it('of an allowed origin learn what they may send, and what they may read', async () => {
    for (const origin of [ours, 'http://localhost:5173']) {
      const answer = await asking(open.url, origin);
      expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([204, origin, 'origin']);
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST, PATCH, DELETE');
      expect(answer.headers.get('access-control-allow-headers')).toMatch(/authorization, content-type, prefer/);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
    const run = await post(`${open.url}/v1/runs`, { question: 'Q' }, { origin: ours, ...streamed });
    expect([run.status, allowed(run)]).toEqual([200, ours]);
    expect(run.headers.get('access-control-expose-headers')).toContain('location');
    expect(await run.text()).toContain('done');
    const refused = await fetch(`${open.url}/v1/runs?limt=1`, { headers: { origin: ours } });
    expect([refused.status, allowed(refused)]).toEqual([401, ours]);
  });

  it.each([theirs, 'null', `${ours}:8443`, `${ours}.evil.com`, 'http://app.example.com'])(
    'of the origin %s learn nothing',
    async (origin) => {
      const answer = await asking(open.url, origin);
      expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([405, null, 'origin']);
      const run = await post(`${open.url}/v1/runs`, { question: 'Q' }, { origin });
      expect([run.status, allowed(run)]).toEqual([403, null]);
    },
  );

  it('of all origins learn nothing unless some are allowed', async () => {
    const answer = await asking(closed.url, ours);
    expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([405, null, null]);
    expect((await post(`${closed.url}/v1/runs`, { question: 'Q' }, { origin: ours })).status).toBe(403);
  });

  it('whose name was brought to this address get nothing (DNS rebinding)', async () => {
    for (const path of ['/v1/runs', '/v1/tools', '/v1/audit', '/openapi.json', '/nothing']) {
      const { status, body } = await getWithHost('evil.example.com:8091', `${open.url}${path}`);
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 403, { code: 'authz_denied' }]);
      expect(body).toContain('SLUICE_ALLOWED_HOSTS');
    }
    expect((await getWithHost('localhost:8091', `${open.url}/v1/tools`)).status).toBe(200);
  });

  it.each(['*', 'app.example.com', `${ours}/`, `${ours}/page`, 'ftp://a.example.com', 'HTTPS://app.example.com'])(
    'are not named as %s',
    (text) =>
      expect(() => readEnvironment({ SLUICE_HTTP_ORIGINS: text })).toThrow(/SLUICE_HTTP_ORIGINS has ".*such as https:/),
  );
});
