import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentResponse } from '@sluice/contracts';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import type { Gateway } from '../../apps/gateway/src/gateway.module.js';
import type { SqliteBus } from '@sluice/bus';
import { startBrokerEndpoint, token } from '../../libs/connections/test/broker-endpoint.js';
import type { BrokerEndpoint } from '../../libs/connections/test/broker-endpoint.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import type { Issuer } from '../../libs/identity/test/issuer.js';
import { ScriptedModel } from '../harness/system.js';
import { startWithTools } from '../harness/with-tools.js';
import type { ToolSystem } from '../harness/with-tools.js';
import { careless } from './careless.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-who-may-'));
const keyFile = join(folder, 'issuer.json');
const model = new ScriptedModel(({ history }) =>
  history.length > 0 ? { answer: 'done' } : { calls: [['core__reader', '{"how":"reports it"}']] },
);
const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

describe('who may use a connection', () => {
  let system: ToolSystem;
  let broker: BrokerEndpoint;
  let honest: Issuer;
  let gateway: Gateway;
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
    broker = await startBrokerEndpoint();
    broker.answer = token('token-of-the-broker');
    system = await startWithTools(
      {
        tool: { reader: { type: 'reader', connection: 'calendar' } },
        policy: { allowed_tools: ['*'] },
        identity: {
          provider: 'jwt',
          key_file: keyFile,
          issuer,
          audience,
          claims: { connections: 'links', subject: 'for' },
        },
        connections: { calendar: { adapter: 'http', url: broker.url, tenants: ['acme'], hosts: ['crm.example'] } },
        authorization: {
          permissions: [
            { principals: ['user:alice', 'user:bob', 'user:eve'], tenants: ['*'], tools: ['*'] },
            { principals: ['user:alice', 'user:bob'], tenants: ['*'], connections: ['calendar'] },
          ],
          delegations: [
            {
              actors: ['user:alice'],
              subjects: ['user:bob', 'user:eve'],
              tenants: ['*'],
              tools: ['*'],
              connections: ['*'],
            },
            { actors: ['user:carol'], subjects: ['user:bob'], tenants: ['*'], tools: ['*'] },
          ],
        },
      },
      { contracts: careless, hub: noServers, model },
    );
    gateway = await startGateway(system.open.runtime);
  });
  afterAll(async () => {
    await gateway.close();
    await system.close();
    await broker.close();
    rmSync(folder, { recursive: true });
  });

  const bearer = async (claims: Record<string, unknown>) => ({
    authorization: `Bearer ${await honest.token({ tool_groups: ['*'], links: ['calendar'], ...claims })}`,
  });
  let count = 0;
  async function ask(claims: Record<string, unknown>, request: object = {}): Promise<AgentResponse> {
    const requestId = `may-${count++}`;
    const json = { question: 'Q', request_id: requestId, session_id: requestId, connections: ['calendar'], ...request };
    const bus = system.open.runtime.bus as SqliteBus;
    broker.asked.length = 0;
    await bus.appendRaw('agent.requests', requestId, Buffer.from(JSON.stringify(json)), await bearer(claims));
    for await (const { record } of bus.read(['agent.responses'], {
      from: 'start',
      follow: true,
      signal: AbortSignal.timeout(120_000),
    }))
      if (record.requestId === requestId) return record;
    throw new Error(`The run ${requestId} did not end within 2 minutes.`);
  }

  it('who has all that it takes, and the broker learns who that is (T-26a2, K-31, K-49)', async () => {
    expect((await ask({})).history).toMatchObject([{ outcome: 'ok' }]);
    const alice = { connection: 'calendar', tenant: 'acme', actor: 'user:alice', subject: null, refused: false };
    expect(broker.asked.map(({ body }) => body)).toEqual([alice]);
    expect((await ask({ for: 'bob' })).history).toMatchObject([{ outcome: 'ok' }]);
    expect(broker.asked.map(({ body }) => body)).toEqual([{ ...alice, subject: 'user:bob' }]);
  });

  it.each([
    ['whose credential permits none', { links: [] }, {}, 'policy_denied', 'connection_not_allowed'],
    ['whose credential does not speak of any', { links: undefined }, {}, 'policy_denied', 'connection_not_allowed'],
    ['whose credential permits another', { links: ['mail'] }, {}, 'policy_denied', 'connection_not_allowed'],
    ['whose request names none', {}, { connections: undefined }, 'policy_denied', 'connection_not_allowed'],
    ['whose request names another', {}, { connections: ['mail'] }, 'policy_denied', 'connection_not_allowed'],
    ['of another tenant', { tenant: 'globex' }, {}, 'policy_denied', 'connection_not_allowed'],
    ['who may use the tool and not the connection', { sub: 'eve' }, {}, 'authz_denied', 'not_permitted'],
    ['whose user may not', { for: 'eve' }, {}, 'authz_denied', 'not_permitted'],
    ['to whom it is not delegated', { sub: 'carol', for: 'bob' }, {}, 'authz_denied', 'not_delegated'],
  ])(
    'not one %s, and no broker is asked (T-30b, T-30c, P-06b, X-22, K-47)',
    async (_, claims, request, outcome, reason) => {
      expect((await ask(claims, request)).history).toMatchObject([{ outcome, reason }]);
      expect(broker.asked).toEqual([]);
    },
  );

  it.each([['not an id'], [''], ['a'.repeat(65)], ['crm\n'], ['**']])(
    'no one by an id of another form, which is stopped where it comes in: %j (P-04b)',
    async (id) => {
      const response = await ask({}, { connections: ['calendar', id] });
      expect(response).toMatchObject({ kind: 'error', iterations: 0 });
      const dead = (await system.all('agent.dead-letters')).at(-1)?.record;
      expect(dead).toMatchObject({ code: 'invalid_request', reason: expect.stringContaining('connections[1]') });
      expect(broker.asked).toEqual([]);
    },
  );

  it.each([
    ['names it', {}, 'calendar', ['reader']],
    ['names it among others', {}, 'mail,calendar', ['reader']],
    ['names all', {}, '*', ['reader']],
    ['names none', {}, null, []],
    ['names another', {}, 'mail', []],
    ['names it, and its credential does not', { links: [] }, 'calendar', []],
    ['names it for another tenant', { tenant: 'globex' }, 'calendar', []],
  ])('and learns over HTTP what a run is offered that %s', async (_, claims, named, offered) => {
    const query = named === null ? '' : `?connections=${named}`;
    const response = await fetch(`${gateway.url}/v1/tools${query}`, { headers: await bearer(claims) });
    const { tools } = (await response.json()) as { tools: readonly { key: string }[] };
    expect(tools.map(({ key }) => key)).toEqual(offered);
    const { requestId } = await ask(claims, { connections: named?.split(',') });
    const toolset = (await system.all('agent.toolsets')).find(({ record }) => record.requestId === requestId);
    expect(toolset?.record.tools.map(({ key }) => key)).toEqual(offered);
  });

  it.each([
    ['connections=crm%0A', 'connections[0] is no id'],
    ['connections=calendar&connections=mail', 'Write connections once, with commas'],
  ])('and learns over HTTP what is wrong with ?%s', async (query, sentence) => {
    const response = await fetch(`${gateway.url}/v1/tools?${query}`, { headers: await bearer({}) });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(sentence)]);
  });
});
