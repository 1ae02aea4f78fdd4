import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import { unverified } from '@sluice/identity';
import { everything, whatIf } from '@sluice/replay';
import type { Environment } from '@sluice/host';
import type { Reconsidered } from '@sluice/replay';
import { run } from '../../apps/sluice/src/commands/explain.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { authorizerOf, changed, replayed, undecodable } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const configuration = `
tool:
  now: { type: get_current_time, group: [clock] }
  list: { type: list_files, group: [files] }
  help: { type: agent, description: Helps with the time, group: [helpers], agent: { agent: support } }
group_fallbacks: { clock: [files] }
policy:
  allowed_tools: [now, list, help]
  allowed_agents: [help]
limits: { max_iterations: 5 }
agents:
  default: { instructions: Be brief., memory: { last: 2 } }
  support: { instructions: Help them., groups: [clock], memory: none, limits: { max_iterations: 2 } }
  closed: { may_ask: { principals: ['user:ann'] } }
`;

/** Calls what it is offered first, unless it has done so; the answer says by which instructions. */
const model = (): ScriptedModel =>
  new ScriptedModel(({ history, tools, instructions }) => {
    const [first] = tools;
    if (history.length > 0 || first === undefined) return { answer: instructions };
    return { calls: [[first.id, first.id === 'core__help' ? '{"question":"What time is it?"}' : '{}']] };
  });

describe('a request to a named agent', () => {
  it('has its instructions, groups and limits, on the record, and replay decides with them', async () => {
    const scripted = model();
    const opened = (system = await startSystem(configuration, scripted));
    const own = await opened.ask({ requestId: 'own', agent: 'support', group: ['*'] });
    expect(own.answer).toBe('Help them.');
    expect(own.run).toMatchObject({ maxIterations: 2, requestedGroups: ['clock'], availableTools: ['now'] });
    const none = await opened.ask({ requestId: 'none', agent: 'support', group: null, sessionId: 'own' });
    expect(none.run).toMatchObject({ requestedGroups: ['clock'], memory: null });
    const other = await opened.ask({ requestId: 'other', group: ['clock', 'files'] });
    expect(other.answer).toBe('Be brief.');
    expect(other.run).toMatchObject({ maxIterations: 5, availableTools: ['now', 'list'] });
    const outside = await opened.ask({ requestId: 'outside', agent: 'support', group: ['files'] });
    expect(outside.run).toMatchObject({ requestedGroups: [], availableTools: [] });

    const found = await replayed(opened.bus, null);
    expect(found.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(new Set(found.map(({ requestId }) => requestId)).size).toBe(4);
    // Without the agent on the record the run is another one.
    const nameless = changed(opened.bus, (message) =>
      message.topic === 'agent.toolsets' && message.record.requestId === 'own'
        ? { ...message, record: { ...message.record, request: { ...message.record.request, agent: null } } }
        : message,
    );
    const wrong = (await replayed(nameless, null)).filter(({ outcome }) => outcome.kind === 'different');
    expect(wrong.map(({ kind, requestId }) => `${kind} of ${requestId}`)).toContain('turn of own');

    expect(await opened.metric('sluice_agent_runs_ended_total', { agent: 'support', kind: 'answer' })).toBe(3);
    const audited = await eventually(
      async () => (await opened.all('agent.audit')).map(({ record }) => record),
      (all) => all.some(({ kind, requestId }) => kind === 'request' && requestId === 'own'),
    );
    const request = audited.find(({ kind, requestId }) => kind === 'request' && requestId === 'own');
    expect(JSON.parse(request?.details ?? '{}')).toMatchObject({ agent: 'support' });
  });

  it('is considered under the agent that another configuration has by that name', async () => {
    const opened = (system = await startSystem(configuration, model()));
    await opened.ask({ requestId: 'own', agent: 'support', group: ['*'] });
    await opened.ask({ requestId: 'other', group: ['clock'] });
    const { configuration: now } = opened.embedded.runtime.configurations.current();
    const under = async (support: object | undefined): Promise<readonly Reconsidered[]> => {
      const { support: before, ...others } = now.agents ?? {};
      const agents = { ...others, ...(support === undefined ? {} : { support: { ...before, ...support } }) };
      const options = {
        ...{ candidate: compileEvaluator({ ...now, version: 'other', agents }), selection: everything },
        ...{ verifier: unverified, authorizerOf, signal: new AbortController().signal, onUndecodable: undecodable },
      };
      const found: Reconsidered[] = [];
      for await (const one of whatIf(opened.bus, options)) if (one.changes.length > 0) found.push(one);
      return found;
    };
    expect(await under({})).toEqual([]);
    const widened = await under({ groups: ['clock', 'files'] });
    expect(widened[0]).toMatchObject({ requestId: 'own', changes: [{ kind: 'tools', gained: ['list'], lost: [] }] });
    const gone = await under(undefined);
    expect(new Set(gone.map(({ requestId }) => requestId))).toEqual(new Set(['own']));
    expect(gone[0]?.changes).toEqual([{ kind: 'run', was: 'goes on', would: 'authz_denied' }]);
  });

  it('is refused with the agents that its caller may ask, the same for one that there is not', async () => {
    const opened = (system = await startSystem(configuration, model()));
    for (const agent of ['closed', 'sales']) {
      const { error, run } = await opened.ask({ agent });
      expect(error).toMatchObject({
        code: 'authz_denied',
        message: `The agent "${agent}" is not one that you may ask. You may ask "default" and "support".`,
      });
      expect(run?.iteration).toBe(0);
    }
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('lends its entry to a tool that is an agent', async () => {
    const opened = (system = await startSystem(configuration, model()));
    const { answer, history } = await opened.ask({ requestId: 'calling', group: ['helpers'] });
    expect(answer).toBe('Be brief.');
    expect(history[0]?.observation).toContain('Help them.');
    const [turn] = (await opened.all('agent.toolsets')).filter(({ record }) => record.run.parent !== null);
    expect(turn?.record).toMatchObject({ request: { agent: 'support' }, run: { maxIterations: 2, memory: null } });
    expect(turn?.record.run.availableTools).toEqual(['now']);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('`sluice explain` of a named agent', () => {
  it('decides by the groups, limits and budgets of the agent that --agent or the request names', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-named-'));
    const file = join(folder, 'sluice.yaml');
    writeFileSync(file, configuration);
    const explained = async (request: object, ...words: readonly string[]) => {
      const input = Readable.from([`${JSON.stringify(request)}\n`]);
      const { code, output } = await inProcess(
        (args, context) => run(args, { ...context, input }),
        {} as Environment,
        ...['--config', file, ...words],
      );
      return [code, JSON.parse(output)] as const;
    };
    const offered = ['now'];
    expect(await explained({ group: ['*'] }, '--agent', 'support')).toMatchObject([0, { offered }]);
    expect(await explained({ group: ['*'], agent: 'support' })).toMatchObject([0, { offered }]);
    expect(await explained({ group: ['*'] })).toMatchObject([0, { offered: ['now', 'list', 'help'] }]);
    expect(await explained({ group: ['*'] }, '--depth', '1')).toMatchObject([0, { offered: ['now', 'list'] }]);
    const [code, { error }] = await explained({ agent: 'suport' });
    expect([code, error]).toEqual([1, expect.stringContaining('did you mean `support`?')]);
    rmSync(folder, { recursive: true });
  });
});
