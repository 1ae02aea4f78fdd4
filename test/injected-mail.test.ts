import { afterEach, describe, expect, it } from '@jest/globals';
import { startMcp } from '../apps/mcp/src/mcp.module.js';
import { calls, workflowConfiguration } from './harness/configurations.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { Said, TestSystem } from './harness/system.js';
import { newClient, oldClient } from './mcp/with-mcp.js';
import { replayed } from './replay/replaying.js';

// A mail in the inbox asks the model to send the customer list to a stranger, and the model obeys.
const read = ['core__read-inbox', calls.query[1]] as const;
const send = ['core__send-mail', calls.update[1]] as const;
const args = (call: readonly [string, string]) => JSON.parse(call[1]) as Record<string, unknown>;

const done: Said = { answer: 'Done.' };

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function mailSystem(within: string, model = new ScriptedModel(() => ({ answer: 'Nobody asks it.' }))) {
  const rules = `rules: { no-mail-after-inbox: { tools: [send-mail], history: { within: ${within}, not_after: [read-inbox] } } }`;
  const configuration = workflowConfiguration({ limits: rules, allowed: 'read-inbox, send-mail' })
    .replace('knowledge-query:', 'read-inbox:')
    .replace('graph-update:', 'send-mail:')
    .replaceAll(/\n {4}(?:state|available_in_states): .*/g, '');
  const system = await startSystem(configuration, model);
  closing.push(() => system.close());
  return system;
}

async function doorOf(system: TestSystem): Promise<string> {
  const mcp = await startMcp(system.embedded.runtime);
  closing.push(() => mcp.close());
  return mcp.url;
}

const short = (history: readonly { action: string; outcome: string; reason: string | null }[]) =>
  history.map(({ action, outcome, reason }) => [action, outcome, reason]);
const wasRead = ['read-inbox', 'ok', null];
const wasSent = ['send-mail', 'ok', null];
const wasStopped = ['send-mail', 'policy_denied', 'closed_by_history'];

describe('a mail that tells the model to send another one', () => {
  it('sends none in its run, nor in the next run of the session; other sessions send theirs', async () => {
    const script = [{ calls: [read, send] }, done, { calls: [send] }, done, { calls: [send] }, done].values();
    const system = await mailSystem('session', new ScriptedModel(() => script.next().value ?? done));
    const group = ['*'];
    expect(short((await system.ask({ group, sessionId: 'a' })).history)).toEqual([wasRead, wasStopped]);
    const next = await system.ask({ group, sessionId: 'a' });
    expect(short(next.history)).toEqual([wasStopped]);
    expect(next.history[0]?.observation).toContain('by the rule "no-mail-after-inbox"');
    expect(short((await system.ask({ group, sessionId: 'b' })).history)).toEqual([wasSent]);
    const toolsets = await system.all('agent.toolsets');
    expect(toolsets.filter(({ record }) => record.run.conditions?.facts !== null)).toHaveLength(toolsets.length);
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('sends none in an MCP session, where each call is a run of its own', async () => {
    const url = await doorOf(await mailSystem('session'));
    const [client, other] = [await oldClient(url), await oldClient(url)];
    closing.push(
      () => client.close(),
      () => other.close(),
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('send-mail');
    expect(await client.callTool({ name: 'read-inbox', arguments: args(read) })).not.toMatchObject({ isError: true });
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('send-mail');
    expect(await client.callTool({ name: 'send-mail', arguments: args(send) })).toMatchObject({ isError: true });
    expect(await other.callTool({ name: 'send-mail', arguments: args(send) })).not.toMatchObject({ isError: true });
  });

  it('sends none in stateless MCP calls of one user', async () => {
    const url = await doorOf(await mailSystem('user'));
    const call = async (name: string, of: readonly [string, string]) => {
      const client = await newClient(url);
      closing.push(() => client.close());
      return client.callTool({ name, arguments: args(of) });
    };
    expect(await call('send-mail', send)).not.toMatchObject({ isError: true });
    expect(await call('read-inbox', read)).not.toMatchObject({ isError: true });
    expect(await call('send-mail', send)).toMatchObject({ isError: true });
  });
});
