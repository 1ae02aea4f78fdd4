import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonValue } from '@sluice/core';
import { noTraces } from '@sluice/host';
import type { AgentResponse, AgentStep } from '@sluice/contracts';
import type { SqliteBus } from '@sluice/bus';
import { formsOf } from '@sluice/connections';
import { McpServers } from '../../apps/executor/src/mcp-servers.js';
import { startBrokerEndpoint } from '../../libs/connections/test/broker-endpoint.js';
import type { BrokerEndpoint } from '../../libs/connections/test/broker-endpoint.js';
import { startBearerServer } from '../../libs/hub/test/bearer-server.js';
import type { BearerServer } from '../../libs/hub/test/bearer-server.js';
import { asked, decide } from '../harness/approving.js';
import { ScriptedModel } from '../harness/system.js';
import { compiled, startWithTools } from '../harness/with-tools.js';
import type { ToolSystem } from '../harness/with-tools.js';
import { careless, contexts, ways } from './careless.js';
import { startService } from './service.js';

/** Planted in every place a credential can come from; none may be anywhere afterwards. */
const planted = {
  variable: 'planted-in-a-variable+/"4711',
  file: 'planted-in-a-file-4712',
  broker: 'planted-by-a-broker-4713',
  renewed: 'planted-and-renewed-4714',
  key: 'planted-as-the-key-of-the-broker-4715',
} as const;
const control = 'seen-by-everybody-4710';
const secretFolder = mkdtempSync(join(tmpdir(), 'sluice-secrets-'));
const secretFile = join(secretFolder, 'mail');
const secrets: Record<string, string> = { CRM_TOKEN: planted.variable, BROKER_KEY: planted.key };
const secret = (variable: string): string | undefined => secrets[variable];

/** The question holds the calls; the answer repeats all that the model was told. */
const model = new ScriptedModel(({ question, history }) =>
  history.length > 0
    ? { answer: `${control} ${history.map(({ observation }) => observation).join(' ')}` }
    : { calls: JSON.parse(question) as [string, string][] },
);

describe('planted credentials (E-09, T-26a1, T-26a3, T-28a, K-48, P-10)', () => {
  let system: ToolSystem;
  let servers: McpServers;
  let broker: BrokerEndpoint;
  let mcp: BearerServer;
  let service: Awaited<ReturnType<typeof startService>>;
  const told: AgentResponse[] = [];

  beforeAll(async () => {
    writeFileSync(secretFile, planted.file);
    broker = await startBrokerEndpoint();
    broker.answer = ({ body }, response) =>
      response.end(
        JSON.stringify({ access_token: body['refused'] ? planted.renewed : planted.broker, expires_in: 600 }),
      );
    mcp = await startBearerServer(planted.broker, planted.renewed);
    service = await startService(planted.variable, planted.file, planted.broker, planted.renewed);
    const hosts = ['crm.example', service.url, new URL(mcp.url).origin];
    const configuration = {
      tool: {
        ...Object.fromEntries(
          ['variable', 'file', 'broker'].flatMap((connection) => [
            [`reader-${connection}`, { type: 'reader', connection }],
            [`sender-${connection}`, { type: 'sender', connection }],
          ]),
        ),
        'reader-denied': { type: 'reader', connection: 'denied' },
        echo: { type: 'mcp-tool' },
        fail: { type: 'mcp-tool' },
        length: { type: 'mcp-tool' },
      },
      policy: {
        allowed_tools: [
          ...['variable', 'file', 'broker'].flatMap((c) => [`reader-${c}`, `sender-${c}`]),
          'reader-denied',
          'echo',
          'fail',
          'length',
        ],
        approval: { approvers: ['*'], effects: ['external_side_effect'] },
      },
      connections: {
        variable: { adapter: 'environment', variable: 'CRM_TOKEN', tenants: ['*'], hosts },
        file: { adapter: 'file', path: secretFile, tenants: ['local'], hosts },
        broker: { adapter: 'http', url: broker.url, key_env: 'BROKER_KEY', tenants: ['*'], hosts },
        denied: { adapter: 'http', url: broker.url, tenants: ['*'], hosts },
      },
      mcp: {
        servers: {
          remote: { url: mcp.url, connection: 'broker' },
          child: {
            command: process.execPath,
            args: [join(import.meta.dirname, '../../libs/hub/test/mcp-servers/credential.mjs')],
            connection: 'file',
            connection_env: 'THEIR_TOKEN',
          },
        },
        tools: {
          echo: { server: 'remote', tool: 'echo', effect: 'read_only', redaction: 'whole' },
          fail: { server: 'remote', tool: 'fail', effect: 'read_only', redaction: 'whole' },
          length: { server: 'child', tool: 'length', effect: 'read_only', redaction: 'whole' },
        },
      },
    };
    const logged = { warn: (...line: unknown[]) => void lines.push(line) };
    servers = new McpServers(
      { forChild: () => ({ PATH: process.env['PATH'] ?? '' }), secret },
      logged as never,
      () => undefined,
      noTraces,
    );
    const offers = await servers.offers(compiled(configuration, { contracts: careless }).mcpServers);
    system = await startWithTools(configuration, { contracts: careless, hub: servers, offers, model, secret });
  });
  const lines: unknown[] = [];
  afterAll(async () => {
    await system.close();
    await servers.close();
    await Promise.all([broker.close(), mcp.close(), service.close()]);
    rmSync(secretFolder, { recursive: true });
  });

  let count = 0;
  async function run(tool: string, args: JsonValue, connections: readonly string[] | null = ['*']): Promise<AgentStep> {
    const question = JSON.stringify([[tool, JSON.stringify(args)]]);
    const running = system.ask(`run-${count++}`, { question, connections });
    if (tool.startsWith('core__sender')) {
      approvals++;
      const bus = system.open.runtime.bus as SqliteBus;
      expect(await decide({ bus }, await asked({ bus }, approvals), 'approve')).toMatchObject({ notTaken: null });
    }
    const response = await running;
    told.push(response);
    return response.history[0] as AgentStep;
  }
  let approvals = 0;

  const readers = ['variable', 'file', 'broker'];
  it.each(readers.flatMap((connection) => ways.map((how) => [connection, how] as const)))(
    'from %s, to a tool that %s',
    async (connection, how) => {
      const step = await run(`core__reader-${connection}`, { how, url: service.url });
      const outcome = {
        throws: 'execution', 'says that': 'unavailable', returns: 'validation', asks: 'execution',
      }[/^(throws|says that|returns|asks)/.exec(how)?.[0] ?? '']; // prettier-ignore
      expect(step.outcome).toBe(outcome ?? 'ok');
      if (how.startsWith('fetches')) expect(step.observation).toContain('200 shown: Bearer [hidden]');
      if (how === 'says it') expect(step.observation).toContain('It is [hidden].');
    },
  );

  it('to a tool with an effect, whose outcome is kept in the ledger, after an approval', async () => {
    for (const connection of readers) {
      const step = await run(`core__sender-${connection}`, { how: 'says it' });
      expect(step).toMatchObject({ outcome: 'ok', observation: expect.stringContaining('[hidden]') });
    }
  });

  it('and to the log goes why a tool failed, without them (and to the model not why)', () => {
    const failed = system
      .lines()
      .split('\n')
      .filter((line) => line.includes('a tool failed; the model hears that it did'));
    expect(failed.some((line) => line.includes('"at":"execution"') && line.includes('[hidden]'))).toBe(true);
    expect(failed.some((line) => line.includes('"at":"output"'))).toBe(true);
    for (const value of Object.values(planted)) expect(failed.join('\n')).not.toContain(value);
  });

  it('to MCP servers that echo them, fail with them and print them (T-26a4)', async () => {
    expect(await run('mcp__remote__echo', {})).toMatchObject({ outcome: 'ok' });
    expect(await run('mcp__remote__fail', {})).toMatchObject({ outcome: 'execution' });
    expect(await run('mcp__child__length', {})).toMatchObject({ outcome: 'ok', observation: '22 [hidden]' });
    expect(mcp.ran).toEqual([planted.broker, planted.broker]);
  });

  it('that are refused are renewed once, and the call is made again (T-29b, K-29, K-31)', async () => {
    service.tokens.delete(planted.broker);
    mcp.accepted.delete(planted.broker);
    service.seen.length = 0;
    const step = await run('core__reader-broker', { how: 'fetches with a body', url: service.url });
    expect(step.observation).toContain('200 shown');
    expect(service.seen).toEqual([planted.broker, planted.renewed].map((token) => ({ token, body: 'a body' })));
    expect(await run('mcp__remote__echo', {})).toMatchObject({ outcome: 'ok' });
    expect(mcp.ran.at(-1)).toBe(planted.renewed);
    service.tokens.clear();
    mcp.accepted.clear();
    expect((await run('core__reader-broker', { how: 'fetches', url: service.url })).observation).toContain('401 shown');
    expect(await run('mcp__remote__echo', {})).toMatchObject({
      outcome: 'unavailable',
      reason: 'connection_unreachable',
    });
  });

  it('that change between two calls are the new ones (T-26a2)', async () => {
    service.tokens.add(planted.renewed);
    secrets['CRM_TOKEN'] = planted.renewed;
    writeFileSync(secretFile, planted.renewed);
    for (const connection of ['variable', 'file']) {
      const step = await run(`core__reader-${connection}`, { how: 'fetches', url: service.url });
      expect(step.observation).toContain('200 shown');
    }
  });

  it('that cannot be had, or are not given, are distinguished (X-22, P-06a)', async () => {
    delete secrets['CRM_TOKEN'];
    rmSync(secretFile);
    for (const connection of ['variable', 'file'])
      expect(await run(`core__reader-${connection}`, { how: 'says it' })).toMatchObject({
        outcome: 'unavailable',
        reason: 'connection_unreachable',
      });
    broker.answer = (_asked, response) => response.writeHead(403).end(planted.broker);
    const kept = await run('core__reader-broker', { how: 'says it' });
    expect(kept).toMatchObject({ outcome: 'ok' }); // until its life is over
    const denied = await run('core__reader-denied', { how: 'says it' });
    expect(denied).toMatchObject({ outcome: 'authz_denied', reason: 'connection_denied' });
    const { metrics } = system.open.runtime;
    const value = JSON.stringify((await metrics.connectionCredentials.get()).values);
    expect(value).toContain('"unreachable"');
    expect((await metrics.hiddenCredentials.get()).values.length).toBeGreaterThan(2);
  });

  it('are not requested where the request names no connection, and the tool is not shown (T-30b, T-30c, K-28, K-47)', async () => {
    broker.asked.length = 0;
    for (const connections of [null, [], ['variable']]) {
      const step = await run('core__reader-broker', { how: 'says it' }, connections);
      expect(step).toMatchObject({ outcome: 'policy_denied', reason: 'connection_not_allowed' });
      const toolset = (await system.all('agent.toolsets')).findLast(({ record }) => record.iteration === 1)?.record;
      expect(toolset?.hidden).toContainEqual({ key: 'reader-broker', reasons: ['connection'] });
      expect(toolset?.tools.map(({ key }) => key).includes('reader-variable')).toBe(connections?.length === 1);
    }
    expect(broker.asked).toEqual([]);
  });

  it('are in no context that a tool got (T-26a1)', () => {
    expect(contexts.length).toBeGreaterThan(40);
    expect(Object.keys(contexts[0] as object).sort()).toEqual(
      ['actorId', 'connectionId', 'runId', 'sessionId', 'tenantId', 'toolCallId'], // prettier-ignore
    );
    expect(forms.filter((form) => JSON.stringify(contexts).includes(form))).toEqual([]);
  });

  const forms = Object.values(planted).flatMap((token) => [...formsOf(token)]);
  it('are nowhere afterwards: in no byte of the log, the ledger and the lines, in no metric, no answer, nothing that the model got', async () => {
    const bus = system.open.runtime.bus as SqliteBus;
    await bus.appendRaw('agent.requests', 'x', Buffer.from('{"question":'));
    await system.ask('last', { question: '[["core__none","{}"]]' });
    const dead = await system.all('agent.dead-letters');
    expect(dead).toHaveLength(1);
    const left = {
      metrics: await system.open.runtime.metrics.registry.metrics(),
      lines: system.lines() + JSON.stringify(lines),
      answers: JSON.stringify(told),
      asked: JSON.stringify(model.asked),
      status: JSON.stringify(servers.status()),
      dead: JSON.stringify(dead),
    };
    for (const form of forms)
      expect(
        Object.entries(left)
          .filter(([, text]) => text.includes(form))
          .map(([name]) => name),
      ).toEqual([]);
    const files = globSync('**/*', { cwd: system.folder, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as const);
    expect(bytes.some(([, content]) => content.includes(control))).toBe(true);
    for (const form of forms)
      expect(bytes.filter(([, content]) => content.includes(form)).map(([name]) => name)).toEqual([]);
  });
});
