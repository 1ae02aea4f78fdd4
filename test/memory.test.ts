import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { run as audit } from '../apps/sluice/src/commands/audit.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { changed, replayed } from './replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const model = (): ScriptedModel =>
  new ScriptedModel(({ question, history, tools }) =>
    history.length === 0 && tools.length > 0
      ? { calls: [['core__now', '{}']] }
      : { answer: `Answer to ${question} It is so. And more.` },
  );

const configuration = (memory: string, more = ''): string => `
tool: { now: { type: get_current_time } }
policy: { allowed_tools: [now] }
agents: { default: { ${memory} } }
${more}`;

async function start(memory: string, more = ''): Promise<{ asked: ScriptedModel['asked']; opened: TestSystem }> {
  const scripted = model();
  system = await startSystem(configuration(memory, more), scripted);
  return { asked: scripted.asked, opened: system };
}

const inSession = (question: string, requestId: string, sessionId = 'session-1') => ({
  ...{ question, requestId, sessionId },
  group: ['default'],
});

const pair = (question: string, answer = `Answer to ${question} It is so. And more.`) => ({ question, answer });

describe('the memory of a session', () => {
  it('shows a run’s model the session’s earlier questions and answers, in each turn and on the record', async () => {
    const { asked, opened } = await start('memory: { last: 2 }');
    for (const [n, question] of ['One?', 'Two?', 'Three?', 'Four?'].entries())
      await opened.ask(inSession(question, `run-${n + 1}`));
    await opened.ask(inSession('Elsewhere?', 'run-5', 'session-2'));
    const earlier = (question: string) => asked.filter((one) => one.question === question).map((one) => one.earlier);
    expect(earlier('One?')).toEqual([undefined, undefined]);
    expect(earlier('Two?')).toEqual([[pair('One?')], [pair('One?')]]);
    expect(earlier('Four?')).toEqual([
      [pair('Two?'), pair('Three?')],
      [pair('Two?'), pair('Three?')],
    ]);
    expect(earlier('Elsewhere?')).toEqual([undefined, undefined]);
    const toolsets = await opened.all('agent.toolsets');
    const recorded = toolsets
      .filter(({ record }) => record.requestId === 'run-3')
      .map(({ record }) => record.run.memory);
    expect(recorded.map((memory) => memory?.map(({ requestId }) => requestId))).toEqual([
      ['run-1', 'run-2'],
      ['run-1', 'run-2'],
    ]);
    const found = await replayed(opened.bus, null);
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    // A record that says otherwise what the model was shown asks it something else.
    const other = changed(opened.bus, (message) =>
      message.topic === 'agent.toolsets' && message.record.requestId === 'run-2'
        ? { ...message, record: { ...message.record, run: { ...message.record.run, memory: [] } } }
        : message,
    );
    const wrong = (await replayed(other, null)).filter(({ outcome }) => outcome.kind === 'different');
    expect(wrong.map(({ kind, requestId }) => `${kind} of ${requestId}`)).toContain('turn of run-2');
  });

  it('is named in the audit and in what `ask` shows', async () => {
    const { opened } = await start('memory: summary');
    await opened.ask(inSession('One?', 'run-1'));
    await opened.ask(inSession('Two?', 'run-2'));
    const entries = await eventually(
      async () => (await opened.all('agent.audit')).map(({ record }) => record),
      (all) => all.some(({ kind, requestId }) => kind === 'run_ended' && requestId === 'run-2'),
    );
    const granted = entries.find(({ kind, requestId }) => kind === 'tools_granted' && requestId === 'run-2');
    expect(JSON.parse(granted?.details ?? '{}')).toMatchObject({ memory: ['run-1'] });
    const { environment } = opened.embedded.runtime;
    const { output } = await inProcess(audit, environment, 'show', 'session-1');
    expect(output).toContain('; shown were the earlier runs run-1');
  });

  it('is brief where it is a summary', async () => {
    const { asked, opened } = await start('memory: summary');
    await opened.ask(inSession('One?', 'run-1'));
    await opened.ask(inSession('Two?', 'run-2'));
    expect(asked.at(-1)?.earlier).toEqual([pair('One?', 'Answer to One? It is so.')]);
  });

  it('is not there where the configuration does not say so, nor kept', async () => {
    const { asked, opened } = await start('memory: none');
    await opened.ask(inSession('One?', 'run-1'));
    const end = await opened.ask(inSession('Two?', 'run-2'));
    expect(asked.filter(({ earlier }) => earlier !== undefined)).toEqual([]);
    expect(end.run?.memory).toBeNull();
    expect(await opened.embedded.runtime.documents.find('memory/[null,"local","session-1"]')).toBeUndefined();
  });

  it('has no run that ended without an answer, and no single call', async () => {
    const { asked, opened } = await start('memory: { last: 5 }');
    await opened.ask({ ...inSession('One?', 'run-1'), toolChoice: 'nothing' });
    await opened.ask({ ...inSession('Two?', 'run-2'), call: { tool: 'now', arguments: '{}', order: null } });
    const end = await opened.ask(inSession('Three?', 'run-3'));
    expect([end.answer, asked.at(-1)?.earlier, end.run?.memory]).toEqual([expect.any(String), undefined, []]);
  });

  it('survives a restart, and counts for the tokens that a run may use', async () => {
    const { opened } = await start('memory: { last: 5 }', 'model: { provider: rules, max_output_tokens: 1 }');
    await opened.ask(inSession(`One ${'long '.repeat(200)}?`, 'run-1'));
    await opened.embedded.close();
    writeFileSync(
      opened.configFile,
      configuration('memory: { last: 5 }', 'model: { provider: rules, max_output_tokens: 1 }').replace(
        'policy: {',
        'policy: { budgets: { tokens_per_run: 200 },',
      ),
    );
    const scripted = model();
    system = await startSystem('', scripted, opened.folder);
    const end = await system.ask(inSession('Two?', 'run-2'));
    expect([end.run?.memory?.length, end.error?.code]).toEqual([1, 'budget_exceeded']);
    expect((await system.ask(inSession('Two?', 'run-3', 'session-2'))).error).toBeNull();
  });

  it('is one user’s of one tenant: the session’s name opens it to no other caller', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
    const users = await newIssuer();
    const keyFile = join(folder, 'issuer.json');
    writeFileSync(keyFile, JSON.stringify(users.jwks));
    const identity = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`;
    try {
      const { opened } = await start('memory: { last: 5 }', identity);
      const ask = async (id: string, claims: object): Promise<readonly string[] | undefined> => {
        const token = await users.token({ tool_groups: ['*'], ...claims });
        const json = { question: id, request_id: id, session_id: 'shared', group: ['default'] };
        const headers = { authorization: `Bearer ${token}` };
        await opened.bus.appendRaw('agent.requests', 'shared', Buffer.from(JSON.stringify(json)), headers);
        return (await opened.responseOf(id)).run?.memory?.map(({ requestId }) => requestId);
      };
      expect(await ask('ann-1', { sub: 'ann', tenant: 'one' })).toEqual([]);
      expect(await ask('bob-1', { sub: 'bob', tenant: 'one' })).toEqual([]);
      expect(await ask('ann-2', { sub: 'ann', tenant: 'two' })).toEqual([]);
      expect(await ask('ann-3', { sub: 'ann', tenant: 'one' })).toEqual(['ann-1']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it.each([
    ['memory: all', 'write `none`, `summary`, or a map such as `{ last: 5 }`'],
    ['memory: { last: 21 }', 'a whole number from 1 to 20'],
    ['memory: { lasts: 2 }', 'did you mean `last`?'],
  ])('is refused where it is written wrong: %s', async (memory, sentence) => {
    await expect(startSystem(configuration(memory), model())).rejects.toThrow(sentence);
  });
});
