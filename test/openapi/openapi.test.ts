import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileConfiguration, pinKeyOf } from '@sluice/configuration';
import type { JsonObject, McpOffer } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { createMcpHub } from '@sluice/hub';
import { sampleInputs } from '../../libs/configuration/test/sample-inputs.js';
import { asked, decide } from '../harness/approving.js';
import { ScriptedModel } from '../harness/system.js';
import { compiled, startWithTools } from '../harness/with-tools.js';
import type { ToolSystem } from '../harness/with-tools.js';
import { startStoreApi, storeDocument, storeParts } from './store-api.js';

const key = 'planted-key-of-the-store-4711';
const parts = { environment: () => ({}), onChange: () => undefined };

/** The question holds the call. */
const model = new ScriptedModel(({ question, history }) =>
  history.length > 0 ? { answer: 'done' } : { calls: [JSON.parse(question) as [string, string]] },
);

describe('operations of an OpenAPI document, through the whole loop', () => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-openapi-'));
  const document = join(folder, 'store.yaml');
  const write = (summary: string): void => writeFileSync(document, storeDocument(summary));
  let api: Awaited<ReturnType<typeof startStoreApi>>;
  let system: ToolSystem;
  let hub: ReturnType<typeof createMcpHub>;
  let configuration: JsonObject;
  let offers: readonly McpOffer[];
  let approvals = 0;
  let runs = 0;

  const configured = (): JsonObject => ({
    tool: { store: { type: 'openapi-tool' }, closed: { type: 'openapi-tool' } },
    openapi: {
      servers: {
        store: {
          ...{ document, base_url: `http://${api.host}/v1`, connection: 'store', response_megabytes: 1 },
          ...{ credential: { in: 'header', name: 'X-Api-Key' }, idempotency_header: 'Idempotency-Key' },
        },
        // The same machine by a name that web.private_hosts does not have.
        closed: { document, base_url: `http://localhost:${api.host.split(':')[1] ?? ''}/v1` },
      },
      tools: {
        store: { server: 'store', tools: ['*'], redaction: 'whole' },
        closed: { server: 'closed', tools: ['listItems'], redaction: 'whole' },
      },
    },
    connections: {
      store: { adapter: 'environment', variable: 'STORE_KEY', tenants: ['*'], hosts: [`http://${api.host}`] },
    },
    web: { private_hosts: [api.host] },
    limits: { tool_seconds: 2 },
    policy: { allowed_tools: ['store', 'closed'], approval: { approvers: ['*'] } },
  });

  beforeAll(async () => {
    api = await startStoreApi(key);
    write('Lists the items');
    writeFileSync(join(folder, 'parts.yaml'), storeParts);
    configuration = configured();
    hub = createMcpHub(compiled(configuration, { contracts: [] }).mcpServers, parts);
    offers = await hub.discover();
    const secret = (variable: string) => (variable === 'STORE_KEY' ? key : undefined);
    system = await startWithTools(configuration, { contracts: [], hub, offers, model, secret });
  });
  afterAll(async () => {
    await system.close();
    await hub.close();
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function call(tool: string, args: JsonObject = {}, approved = false): Promise<AgentStep> {
    const question = JSON.stringify([tool, JSON.stringify(args)]);
    const running = system.ask(`run-${String(runs++)}`, { question, connections: ['*'] });
    if (approved) {
      approvals++;
      const bus = system.open.runtime.bus as SqliteBus;
      await decide({ bus }, await asked({ bus }, approvals), 'approve');
    }
    return (await running).history[0] as AgentStep;
  }

  it('reads with the credential of its connection, which is nowhere else', async () => {
    const step = await call('api__store__listItems', { tag: ['a', 'b c'] });
    expect(step).toMatchObject({ outcome: 'ok', observation: '[{"id":1,"name":"Lamp","secret":"hidden"}]' });
    const { method, path, headers } = api.received.at(-1) ?? {};
    expect([method, path, headers?.['x-api-key']]).toEqual(['GET', '/v1/items?tag=a&tag=b%20c', key]);
    expect(headers?.['idempotency-key']).toBeUndefined();
    expect(system.lines()).not.toContain(key);
  });

  it('has an effect once, after an approval, under a key of its own', async () => {
    const before = api.received.length;
    const step = await call('api__store__addItem', { body: { name: 'Chair', within: { name: 'Room' } } }, true);
    expect(step).toMatchObject({ outcome: 'ok', observation: '{"id":2}' });
    const [sent, ...more] = api.received.slice(before);
    expect([sent?.body, more]).toEqual(['{"name":"Chair","within":{"name":"Room"}}', []]);
    const removed = await call('api__store__removeItem', { id: 2 }, true);
    expect(removed).toMatchObject({ outcome: 'ok', observation: '{"status":204}' });
    const keys = api.received.slice(before).map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size, keys.every((one) => (one?.length ?? 0) > 8)]).toEqual([2, 2, true]);
  });

  it.each([
    ['readText', {}, 'ok', undefined, 'Hello'],
    ['stay', {}, 'ok', undefined, 'Hello'],
    ['showItem', { id: 9 }, 'execution', 'user_error', 'There is no item 9.'],
    ['showItem', { id: '../9' }, 'validation', undefined, ''],
    ['goAway', {}, 'execution', 'user_error', 'redirects to another server'],
    ['readLarge', {}, 'execution', 'result_too_large', ''],
    ['wait', {}, 'execution', 'timeout', ''],
    ['tryBusy', {}, 'unavailable', 'not_bound', 'again in 7 s'],
    ['tryForbidden', {}, 'authz_denied', 'connection_denied', ''],
    ['tryBroken', {}, 'execution', undefined, 'It broke.'],
    ['readDown', {}, 'unavailable', 'not_bound', 'did nothing'],
    // A page whose marks have no end, and so many of them that a careless search takes hours.
    ['tryPage', {}, 'execution', 'user_error', 'Wrong.'],
  ] as const)('%s %j ends with %s %s', async (tool, args, outcome, reason, text) => {
    const step = await call(`api__store__${tool}`, args);
    expect([step.outcome, step.reason ?? undefined]).toEqual([outcome, reason]);
    expect(step.observation).toContain(text);
  });

  it('does not know what a call with an effect did that got no answer, and follows no redirect of one', async () => {
    for (const tool of ['lose', 'finish'])
      expect(await call(`api__store__${tool}`, {}, true)).toMatchObject({
        outcome: 'execution',
        reason: 'outcome_unknown',
      });
    const down = await call('api__store__changeDown', {}, true);
    expect(down).toMatchObject({ outcome: 'execution', reason: null, observation: expect.stringContaining('503') });
    const before = api.received.length;
    expect(await call('api__store__sendAway', {}, true)).toMatchObject({ outcome: 'execution', reason: 'user_error' });
    expect(api.received.slice(before).map(({ path }) => path)).toEqual(['/v1/away']);
  });

  it('reaches no private address that the configuration does not name', async () => {
    const before = api.received.length;
    const step = await call('api__closed__listItems');
    expect(step).toMatchObject({ outcome: 'unavailable', observation: expect.stringContaining('web.private_hosts') });
    expect(api.received).toHaveLength(before);
  });

  it('is held back where its document has changed, until an operator compiles; calls need no document', async () => {
    const compile = (offered: readonly McpOffer[], pins?: ReadonlyMap<string, string>) =>
      compileConfiguration(configuration, { ...sampleInputs, offers: offered, ...(pins === undefined ? {} : { pins }) })
        .configuration?.tools ?? [];
    const first = compile(offers);
    const pins = new Map(first.flatMap(({ mcp }) => (mcp === null ? [] : [[pinKeyOf(mcp), mcp.pin ?? ''] as const])));
    write('Lists the items, and more');
    const changed = await hub.discover();
    const listed = (tools: typeof first) => tools.find(({ id }) => id === 'api__store__listItems');
    expect(listed(compile(changed, pins))).toMatchObject({
      spec: null,
      unavailable: expect.stringContaining('held back'),
    });
    expect(
      compile(changed, pins)
        .filter(({ spec }) => spec === null)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...['api__closed__listItems', 'api__store__listItems']]);
    expect(listed(compile(changed))?.spec?.description).toBe('Lists the items, and more');
    rmSync(document);
    expect(await hub.discover()).toMatchObject([{ error: expect.stringContaining('no such file') }, {}]);
    expect(await call('api__store__listItems')).toMatchObject({ outcome: 'ok' });
  });
});
