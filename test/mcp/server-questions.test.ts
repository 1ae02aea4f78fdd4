import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { localPrincipal } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import { CallerForms } from '@sluice/run';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { replayed } from '../replay/replaying.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startMcp } from '../../apps/mcp/src/mcp.module.js';
import { clientInfo, newClient, startMcpSystem } from './with-mcp.js';
import type { McpSystem } from './with-mcp.js';

const server = join(projectRoot, 'libs/hub/test/mcp-servers/asking.mjs');
const configuration = `
tool:
  ask: { type: mcp-tool, group: [g], timeout_seconds: 1 }
mcp:
  servers:
    asking:
      command: node
      args: ["${server}"]
      sampling: { calls: 2, tokens: 200 }
  tools:
    ask: { server: asking, tool: ask, effect: read_only, redaction: whole }
policy:
  allowed_tools: [ask]
`;

const sampling = (text: string, more: JsonObject = {}): JsonObject => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 50, ...more },
});

const form: JsonObject = {
  method: 'elicitation/create',
  params: {
    message: 'Which one?',
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', default: 3 } },
      required: ['name'],
    },
  },
};

/** A client that shows forms, in either era. */
async function formsClient(
  era: string,
  answer: (message: string) => unknown,
  ...urls: readonly string[]
): Promise<Client> {
  const options = { capabilities: { elicitation: { form: {} } } };
  const client = new Client(
    clientInfo,
    era === 'newer' ? { ...options, versionNegotiation: { mode: { pin: '2026-07-28' } } } : options,
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => (await answer(params.message)) as never);
  let requests = 0;
  // One instance after another, as behind a round-robin.
  const fetchThere: typeof fetch = (_, init) => fetch(urls[requests++ % urls.length] ?? '', init);
  await client.connect(new StreamableHTTPClientTransport(new URL(urls[0] ?? ''), { fetch: fetchThere }));
  return client;
}

type Answers = { readonly structuredContent: { readonly answers: readonly JsonObject[] } };

describe('what an MCP server asks in the middle of a call of an MCP client', () => {
  let system: McpSystem;
  beforeAll(async () => {
    system = await startMcpSystem(configuration);
  });
  afterAll(() => system.close());

  const ask = async (requests: readonly JsonObject[]): Promise<readonly JsonObject[]> => {
    const client = await newClient(system.mcp.url);
    const given = { name: 'asking___ask', arguments: { requests } };
    const { structuredContent } = (await client.callTool(given)) as unknown as Answers;
    await client.close();
    return structuredContent.answers;
  };

  it('a model of the configuration answers it, without tools, as often as its entry permits', async () => {
    const answers = await ask([
      sampling('Hello', { systemPrompt: 'Be brief.' }),
      sampling('x'.repeat(600)),
      sampling('Again'),
      sampling('And again', { tools: [] }),
    ]);
    const text = { type: 'text', text: 'No model is asked.' };
    expect(answers).toEqual([
      { role: 'assistant', content: text, model: expect.any(String), stopReason: 'endTurn' },
      { code: -32600, message: expect.stringContaining('200 tokens') },
      { code: -32600, message: expect.stringContaining('2 requests') },
      { code: -32602, message: expect.stringContaining('has no tools') },
    ]);
    const labels = { server: 'asking', kind: 'sampling' };
    expect(await system.metric('sluice_mcp_questions_total', { ...labels, outcome: 'answered' })).toBe(1);
    expect(await system.metric('sluice_mcp_questions_total', { ...labels, outcome: 'refused' })).toBe(3);
  });

  describe.each(['older', 'newer'])('from a client with forms in the %s era', (era) => {
    const call = async (answer: (message: string) => unknown, requests: readonly JsonObject[]) => {
      const client = await formsClient(era, answer, system.mcp.url);
      const given = { name: 'asking___ask', arguments: { requests: [...requests] } };
      const { structuredContent } = (await client.callTool(given)) as unknown as Answers;
      await client.close();
      return structuredContent.answers;
    };

    it('the person fills in its forms, one after another, and the time of the tool stands still', async () => {
      const shown: string[] = [];
      const names = ['first', 'second'];
      const answers = await call(
        async (message) => {
          shown.push(message);
          await sleep(shown.length === 1 ? 1_500 : 0);
          return { action: 'accept', content: { name: names.shift() ?? '' } };
        },
        [form, form],
      );
      expect(shown).toEqual(Array(2).fill('The MCP server asking asks:\n\nWhich one?'));
      expect(answers).toEqual(['first', 'second'].map((name) => ({ action: 'accept', content: { name, size: 3 } })));
    });

    it('hears that the person declines or puts it off', async () => {
      const actions = ['decline', 'cancel'];
      expect(await call(() => ({ action: actions.shift() }), [form, form])).toMatchObject([
        { action: 'decline' },
        { action: 'cancel' },
      ]);
    });
  });

  it('gets an answer that comes to another instance than the one that showed the form', async () => {
    const other = await startMcp(system.embedded.runtime);
    const client = await formsClient(
      'newer',
      () => ({ action: 'accept', content: { name: 'x' } }),
      system.mcp.url,
      other.url,
    );
    const given = { name: 'asking___ask', arguments: { requests: [form, form] } };
    expect(await client.callTool(given)).toMatchObject({
      structuredContent: { answers: [{ action: 'accept' }, { action: 'accept' }] },
    });
    await client.close();
    await other.close();
  });

  it('stands on the log and in the audit: how it was answered and by whom, and no word of it', async () => {
    const actions = [{ action: 'accept', content: { name: 'a hidden name' } }, { action: 'decline' }];
    const client = await formsClient('newer', () => actions.shift(), system.mcp.url);
    const requests = [{ method: 'roots/list' }, form, form, sampling('A hidden text'), sampling('', { tools: [] })];
    const given = { name: 'asking___ask', arguments: { requests } };
    const { _meta } = await client.callTool(given);
    await client.close();
    const isOfCall = ({ record }: { readonly record: { readonly requestId: string } }): boolean =>
      record.requestId === _meta?.['sluice/request_id'];
    const found = (await system.all('agent.steps')).find(isOfCall)?.record;
    const [step] = found?.steps ?? [];
    const by = localPrincipal.actorId;
    const ends = [
      { kind: 'roots', outcome: 'answered', reason: null, by: null },
      { kind: 'elicitation', outcome: 'answered', reason: null, by },
      { kind: 'elicitation', outcome: 'declined', reason: null, by },
      { kind: 'sampling', outcome: 'answered', reason: null, by: expect.any(String) },
      { kind: 'sampling', outcome: 'refused', reason: 'unsupported', by: null },
    ].map((end) => ({ ...end, server: 'asking' }));
    expect(step?.questions).toEqual(ends.map((end) => expect.objectContaining(end)));
    const answered = step?.questions[3];
    expect((answered?.inputTokens ?? 0) + (answered?.outputTokens ?? 0)).toBeGreaterThan(0);
    expect(found?.next.history.map(({ questions }) => questions)).toEqual([[]]);

    const entries = await eventually(
      async () => (await system.all('agent.audit')).filter(isOfCall).map(({ record }) => record),
      (all) => all.some(({ kind }) => kind === 'tool_call'),
    );
    const details = JSON.parse(entries.find(({ kind }) => kind === 'tool_call')?.details ?? '') as JsonObject;
    expect(details).toMatchObject({ authentic: true, questions: ends.map((end) => expect.objectContaining(end)) });
    expect(JSON.stringify(details['questions'])).not.toMatch(/hidden|Which one/);
    const decided = await replayed(system.bus, null);
    expect(decided.length).toBeGreaterThan(3);
    expect(decided.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('left by an attempt whose process ended, is taken over by the next one, or taken back', async () => {
    const forms = new CallerForms(system.embedded.runtime);
    const run = { requestId: 'left', tenant: localPrincipal.tenantId };
    const until = Date.now() + 60_000;
    const left = { id: '1', server: 'asking', message: 'Which?', requestedSchema: { type: 'object' }, until };
    expect(await forms.put(run, left, 1)).toBe('1');
    await forms.show(run, '1');
    // An equal one is the same to the person, whose answer counts for it.
    expect(await forms.put(run, { ...left, id: '2' }, 1)).toBe('1');
    expect(await forms.stateOf(run, '1')).toMatchObject({ shown: true, answer: null });
    // The former attempt, where it lives after all, takes nothing away.
    await forms.forget(run, '1');
    await forms.answer(run, '1', { action: 'decline' });
    expect(await forms.put(run, { ...left, id: '3' }, 1)).toBe('1');
    expect(await forms.stateOf(run, '1')).toMatchObject({ answer: { action: 'decline' } });
    await forms.forget(run, '3');
    // Behind another one that is shown the client is still there.
    await forms.put(run, left, 1);
    await forms.show(run, '1');
    expect(await forms.put(run, { ...left, id: '4', message: 'Which one?' }, 1)).toBe('4');
    expect(await forms.stateOf(run, '4')).toMatchObject({ shown: true, answer: null });
    // An equal one that the call asks for later is another one, which no former answer is for.
    await forms.answer(run, '4', { action: 'decline' });
    expect(await forms.put(run, { ...left, id: '5', message: 'Which one?' }, 2)).toBe('5');
    expect(await forms.stateOf(run, '5')).toMatchObject({ shown: false, answer: null });
    await forms.withdraw(run);
    expect([await forms.waiting(run), (await forms.stateOf(run, '5')).shown]).toEqual([null, false]);
  });

  it('hears at once that a client shows no forms', async () => {
    const reason = 'The client of this call shows no forms.';
    expect(await ask([form])).toEqual([{ action: 'decline', _meta: { 'sluice/reason': reason } }]);
  });
});
