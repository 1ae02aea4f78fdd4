import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { readOpenRuns } from '@sluice/run';
import { OverdueSweep } from '../../apps/filter/src/overdue/overdue-sweep.js';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { Sluice } from '../../packages/client/src/client.js';
import { RateLimitedError } from '../../packages/client/src/errors.js';
import { workflowConfiguration } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { newClient } from '../mcp/with-mcp.js';
import { post } from './over-http.js';

const atOnce = { prefer: 'respond-async' };

/** A model that answers while it is let, so that runs stay open until then. */
class HeldModel extends ScriptedModel {
  private letGo = Promise.withResolvers<undefined>();

  constructor() {
    super(async () => {
      await this.letGo.promise;
      return { answer: 'done' };
    });
  }

  release(): void {
    this.letGo.resolve(undefined);
  }

  hold(): void {
    this.letGo = Promise.withResolvers();
  }
}

/** Asks again until it is so: the filters report each second. */
async function until(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

describe('the limit of a tenant’s open runs, without an identity', () => {
  const model = new HeldModel();
  let system: TestSystem;
  let gateway: Gateway;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration({ limits: 'limits: { open_runs: 2 }' }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    model.release();
    await gateway.close();
    await system.close();
  });
  const run = (body: object = {}): Promise<Response> =>
    post(`${gateway.url}/v1/runs`, { question: 'Q', ...body }, atOnce);
  /** Begins one more and waits for its end, where the door lets it. */
  const isDone = async (): Promise<boolean> => {
    const begun = await run();
    const { request_id: requestId } = (await begun.json()) as { request_id?: string };
    if (begun.status === 202) await system.responseOf(requestId ?? '');
    return begun.status === 202;
  };
  const published = async (): Promise<number> => (await system.all(topics.requests)).length;

  it('refuses the run that is one too many with a 429, and begins another one after an end', async () => {
    expect([(await run({ request_id: 'first' })).status, (await run()).status]).toEqual([202, 202]);
    const before = await published();
    const refused = await run();
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toMatchObject([
      429,
      '2',
      {
        code: 'too_many_runs',
        detail: 'The tenant has 2 open runs, and limits.open_runs permits 2. Try again when one of them has ended.',
      },
    ]);
    expect(await published()).toBe(before);
    expect(await system.metric('sluice_runs_not_begun_total', { door: 'http', tenant: 'local' })).toBe(1);

    const client = new Sluice({ url: gateway.url, retries: 0 });
    const failure = await client.runs.create({ question: 'Q' }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RateLimitedError);
    expect(failure).toMatchObject({ status: 429, code: 'too_many_runs', retryAfterMs: 2_000 });

    expect((await run({ request_id: 'first' })).status).toBe(202);
    expect(await published()).toBe(before);

    model.release();
    await system.responseOf('first');
    expect(await until(isDone)).toBe(true);
  });

  it('counts runs that were not requested at this door, also after it was started again, and refuses MCP calls', async () => {
    const { runtime } = system.embedded;
    const open = async (): Promise<number> => (await readOpenRuns(runtime.documents))?.tenants.get('local') ?? 0;
    expect(await until(async () => (await open()) === 0)).toBe(true);
    model.hold();
    const direct = ['direct-1', 'direct-2', 'direct-3'].map((requestId) => ({
      topic: topics.requests,
      key: requestId,
      record: newRequest('Q', { requestId, sessionId: requestId }),
    }));
    await runtime.bus.publish(direct);
    expect(await until(async () => (await open()) === 3)).toBe(true);
    // As a filter that was started again: it counts what is on the log.
    const again = new OverdueSweep(runtime);
    expect(await until(() => Promise.resolve(again.openByTenant() !== null))).toBe(true);
    expect(again.openByTenant()).toEqual(new Map([['local', 3]]));
    await again.close();
    // One that is started after that reads what is not older than the oldest open run, but for an hour.
    const begun: unknown[] = [];
    const read = (...args: Parameters<typeof runtime.bus.read>) => {
      begun.push(args[1].from);
      return runtime.bus.read(...args);
    };
    const bus = Object.create(runtime.bus, { read: { value: read } }) as typeof runtime.bus;
    const third = new OverdueSweep({ ...runtime, bus });
    expect(await until(() => Promise.resolve(third.openByTenant() !== null))).toBe(true);
    expect(third.openByTenant()).toEqual(new Map([['local', 3]]));
    await third.close();
    expect((begun[0] as { readonly time: number }).time).toBeGreaterThan(Date.now() - 2 * 3_600_000);

    await gateway.close();
    gateway = await startGateway(runtime);
    expect((await run()).status).toBe(429);

    const mcp = await startMcp(runtime);
    const client = await newClient(mcp.url);
    try {
      const result = await client.callTool({ name: 'text-completion', arguments: { prompt: 'Hello' } });
      expect(result).toMatchObject({
        isError: true,
        _meta: { 'sluice/error': { code: 'unavailable', reason: 'too_many_runs' } },
      });
      expect(await system.metric('sluice_mcp_calls_total', { outcome: 'limited' })).toBe(1);
      model.release();
      await system.responseOf('direct-3');
    } finally {
      await client.close();
      await mcp.close();
    }
    expect(await until(isDone)).toBe(true);
  });
});

describe('the limit of open runs of several tenants', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-open-runs-'));
  const keyFile = join(folder, 'issuer.json');
  const model = new HeldModel();
  let system: TestSystem;
  let gateway: Gateway;
  let as: (tenant: string) => Promise<Readonly<Record<string, string>>>;
  beforeAll(async () => {
    const users = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    as = async (tenant) => ({
      authorization: `Bearer ${await users.token({ sub: 'ann', tenant, tool_groups: ['*'] })}`,
    });
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    system = await startSystem(workflowConfiguration({ limits: `limits: { open_runs: 1 }\n${identity}` }), model);
    gateway = await startGateway(system.embedded.runtime);
  });
  afterAll(async () => {
    model.release();
    await gateway.close();
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is one of each tenant', async () => {
    const run = async (tenant: string): Promise<number> =>
      (await post(`${gateway.url}/v1/runs`, { question: 'Q' }, { ...atOnce, ...(await as(tenant)) })).status;
    expect([await run('acme'), await run('acme'), await run('globex'), await run('globex')]).toEqual([
      202, 429, 202, 429,
    ]);
  });
});
