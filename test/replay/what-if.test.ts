import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileEvaluator } from '@sluice/core';
import { unverified } from '@sluice/identity';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import { openArchive } from '@sluice/archive';
import type { Archive } from '@sluice/archive';
import type { AgentStep, ToolCall, Topic, Toolset } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { everything, whatIf } from '@sluice/replay';
import type { DecisionSelection, Reconsidered } from '@sluice/replay';
import { mutated, mutations } from './mutations.js';
import type { Mutation } from './mutations.js';
import { authorizerOf, changed, undecodable } from './replaying.js';

type Counts = Readonly<Record<string, number>>;

/** The rules once more, written down as plainly as they read, so that they can contradict the code. */
function hiddenBy(
  tool: ConfiguredTool,
  { policy }: Configuration,
  groups: readonly string[],
  state: string,
  calls: Counts,
) {
  if (!groups.includes('*') && !tool.groups.some((group) => groups.includes(group))) return 'not_eligible_group';
  if (!tool.states.includes('*') && !tool.states.includes(state)) return 'not_eligible_state';
  if (!policy.allowedTools.includes(tool.id)) return 'not_allowed';
  const waits = policy.approvalEffects.includes(tool.spec?.effect ?? 'external_side_effect');
  if (waits && policy.approvers.length === 0) return 'no_approver';
  const budget = policy.budgets.tools[tool.id]?.callsPerRun ?? Infinity;
  if ((calls[tool.id] ?? 0) >= budget) return 'budget_used';
  return tool.spec === null ? 'not_bound' : null;
}

/** Why the run would end before a toolset, as far as it hangs on how many there were. */
function isOver({ limits }: Configuration, { request, iteration }: Toolset): boolean {
  return iteration > Math.min(request.maxIterations ?? Infinity, limits.maxIterations);
}

function isPermitted({ authorization }: Configuration, tool: ConfiguredTool): boolean {
  if (authorization === null) return true;
  if (authorization.kind === 'cedar') return !authorization.policies.includes(`"${tool.id}"`);
  if (authorization.kind === 'openfga') return true;
  return authorization.permissions.some(({ tools }) => tools.includes(tool.id));
}

function offered(configuration: Configuration, { request, run }: Pick<Toolset, 'request' | 'run'>): string[] {
  const groups = request.group ?? ['default'];
  const state = request.state || 'undefined';
  const tools = configuration.tools.filter(
    (tool) => hiddenBy(tool, configuration, groups, state, run.toolCalls) === null,
  );
  return tools.map(({ key }) => key);
}

/** What becomes of a call, and of the state if it succeeds. */
function fate(configuration: Configuration, turn: ToolCall, step: AgentStep, calls: Counts): readonly [string, string] {
  const call = turn.calls[step.index];
  const state = step.outcome === 'ok' ? step.state : '';
  // What these hang on no mutation changes.
  if (call === undefined || step.outcome === 'invalid_json' || step.reason === 'result_too_large')
    return ['the same', state];
  const tool = configuration.tools.find(({ id }) => id === call.tool);
  if (tool === undefined) return ['refused: unknown_tool', state];
  const hidden = hiddenBy(tool, configuration, turn.groups, step.stateBefore, calls);
  if (hidden !== null) return [`refused: ${hidden}`, state];
  if (!offered(configuration, turn).includes(tool.key)) return ['refused: grant_invalid', state];
  if (!isPermitted(configuration, tool)) return ['refused: not_permitted', state];
  if (Buffer.byteLength(call.arguments) > configuration.limits.argumentBytes)
    return ['refused: arguments_too_large', state];
  if (step.outcome === 'validation' && step.reason === null) return ['made', state];
  const waits = configuration.policy.approvalEffects.includes(tool.spec?.effect ?? 'external_side_effect');
  const leads = step.outcome === 'ok' ? (tool.target ?? step.stateBefore) : '';
  return [waits ? 'waits for an approval' : 'made', leads];
}

type Altered = ReadonlyMap<string, readonly object[]>;

const place = ({ topic, offset }: { topic: string; offset: number }): string => `${topic}/${offset}`;

describe('what a candidate would change', () => {
  const configurations = new Map<string, Configuration>();
  const toolsets: Incoming<'agent.toolsets'>[] = [];
  const turns: Incoming<'agent.tool-calls'>[] = [];
  const steps: Incoming<'agent.steps'>[] = [];
  const responses: Incoming<'agent.responses'>[] = [];
  const approvals: Incoming<'agent.approvals'>[] = [];
  let archive: Archive;
  let reconsidered: (
    candidate: Configuration,
    reader?: LogReader,
    selection?: Partial<DecisionSelection>,
  ) => Promise<Reconsidered[]>;
  beforeAll(async () => {
    archive = await openArchive(join(import.meta.dirname, '../fixtures/released/1.sluice'));
    for await (const { record } of archive.read(['agent.config'], { from: 'start' }))
      configurations.set(record.version, JSON.parse(record.configuration) as Configuration);
    for await (const message of archive.read(['agent.toolsets'], { from: 'start' })) toolsets.push(message);
    for await (const message of archive.read(['agent.tool-calls'], { from: 'start' })) turns.push(message);
    for await (const message of archive.read(['agent.steps'], { from: 'start' })) steps.push(message);
    for await (const message of archive.read(['agent.responses'], { from: 'start' })) responses.push(message);
    for await (const message of archive.read(['agent.approvals'], { from: 'start' })) approvals.push(message);
    const signal = new AbortController().signal;
    const given = { authorizerOf, verifier: unverified, signal, onUndecodable: undecodable };
    reconsidered = async (candidate, reader = archive, narrowed = {}) => {
      const found = [];
      const options = { ...given, selection: { ...everything, ...narrowed }, candidate: compileEvaluator(candidate) };
      for await (const one of whatIf(reader, options)) found.push(one);
      return found;
    };
  });
  const first = (): Configuration => configurations.values().next().value as Configuration;

  /** What the candidate alters, by the plain rules: places, and what there is otherwise. */
  function expected(candidate: Configuration): Altered {
    const altered = new Map<string, readonly object[]>();
    const found = (message: { topic: string; offset: number }, changes: readonly object[]): void => {
      if (changes.length > 0) altered.set(place(message), changes);
    };
    for (const message of toolsets) found(message, toolsetChanges(message.record, candidate));
    for (const message of steps) {
      const { requestId, iteration } = message.record;
      const turn = turns.find(
        (one) => one.record.requestId === requestId && one.record.iteration === iteration,
      )?.record;
      if (turn !== undefined) found(message, callChanges(message.record.steps, turn, candidate));
    }
    for (const message of responses) {
      const { run, error } = message.record;
      if (run === null || error === null || error.code === 'deadline_exceeded') continue;
      const would =
        run.iteration >= Math.min(run.maxIterations, candidate.limits.maxIterations) ? 'max_iterations' : error.code;
      if (would !== error.code) found(message, [{ kind: 'run', was: error.code, would }]);
    }
    for (const message of approvals) {
      const { outcome } = message.record;
      if (outcome === null) continue;
      const was = outcome.notTaken ?? 'taken';
      const would = candidate.policy.approvers.includes(outcome.decidedBy) ? was : 'not_an_approver';
      // All that waited was the same tool.
      if (would !== was) found(message, [{ kind: 'approval', tool: 'reset-workflow', was, would }]);
    }
    return altered;
  }

  function toolsetChanges(record: Toolset, candidate: Configuration): readonly object[] {
    if (isOver(candidate, record)) return [{ kind: 'run', was: 'goes on', would: 'max_iterations' }];
    const was = record.tools.map(({ key }) => key);
    const would = offered(candidate, record);
    const gained = would.filter((key) => !was.includes(key));
    const lost = was.filter((key) => !would.includes(key));
    const description = (key: string) => candidate.tools.find((tool) => tool.key === key)?.spec?.description;
    const altered = record.tools.filter(
      (tool) => would.includes(tool.key) && tool.description !== description(tool.key),
    );
    if (gained.length + lost.length + altered.length === 0) return [];
    return [{ kind: 'tools', gained, lost, altered: altered.map(({ key }) => key) }];
  }

  function callChanges(made: readonly AgentStep[], turn: ToolCall, candidate: Configuration): readonly object[] {
    const granted = configurations.get(turn.configVersion) as Configuration;
    const calls: Record<string, number> = { ...turn.run.toolCalls };
    const changes: object[] = [];
    for (const step of made) {
      const [was, led] = fate(granted, turn, step, calls);
      const [would, leads] = fate(candidate, turn, step, calls);
      const { action: tool, index } = step;
      if (was !== would) changes.push({ kind: 'call', tool, index, was, would });
      else if (led !== leads) changes.push({ kind: 'state', tool, index, was: led, would: leads });
      const id = turn.calls[index]?.tool ?? '';
      const ran = step.outcome === 'ok' || step.outcome === 'execution';
      if (ran) calls[id] = (calls[id] ?? 0) + 1;
    }
    return changes;
  }

  it('is nothing where the candidate is what was in force', async () => {
    const found = await reconsidered(first());
    const later = new Set(toolsets.filter(({ record }) => record.configVersion !== first().version).map(place));
    expect(later.size).toBeGreaterThan(0);
    const early = found.filter((one) => one.changes.length > 0 && !one.requestId.endsWith('-2'));
    expect(early).toEqual([]);
    expect(found.filter(({ notReplayable }) => notReplayable !== null)).toEqual([]);
  });

  it('is nothing where only the models are others, or in another order: none is asked', async () => {
    const { model } = first();
    const others = ['second', 'third'].map((name) => ({ ...model, provider: 'anthropic' as const, name }));
    const [second, third] = others as [typeof model, typeof model];
    const asItWas = await reconsidered(first());
    expect(asItWas.some(({ changes }) => changes.length > 0)).toBe(true);
    for (const models of [{ model: second }, { model, fallbacks: others }, { model: third, fallbacks: [model] }])
      expect(await reconsidered({ ...first(), ...models })).toEqual(asItWas);
  });

  it('rests on no list of unavailable tools, whatever a record has there', async () => {
    const filled = changed(archive, (message) => {
      if (message.topic !== 'agent.toolsets') return message;
      const unavailable = message.record.tools.map(({ id }) => id);
      return { ...message, record: { ...message.record, unavailable } };
    });
    expect(await reconsidered(first(), filled)).toEqual(await reconsidered(first()));
  });

  /** What is found, held against what the plain rules say; how many decisions there are. */
  async function alteredBy(changes: readonly Mutation[]): Promise<number> {
    const candidate = changes.reduce(mutated, first());
    const found = (await reconsidered(candidate)).filter((one) => one.changes.length > 0);
    const altered = new Map(found.map((one) => [place(one), one.changes]));
    expect(altered).toEqual(expected(candidate));
    return altered.size;
  }

  it.each(mutations)('is exactly what a change alters: %s', async (kind) => {
    const later = await alteredBy([]);
    const altered = [];
    for (const { key: tool } of first().tools) altered.push(await alteredBy([{ tool, kind, name: 'elsewhere' }]));
    // Beyond what the second of the recorded configurations had altered already.
    expect(Math.max(...altered)).toBeGreaterThan(later);
  });

  it('is exactly what several changes alter together, whichever', async () => {
    const tools = first().tools.map(({ key }) => key);
    const change = fc.record({
      tool: fc.constantFrom(...tools),
      kind: fc.constantFrom(...mutations),
      name: fc.constantFrom('read-only', 'analysis', 'results', 'undefined', 'admin', '*', 'elsewhere'),
    });
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(changes, async (several) => void (await alteredBy(several))),
      { numRuns: 60 },
    );
  });

  it('is of the calls that were made, where the turn had gone back to the filter and the model was asked again', async () => {
    const real = steps.find(({ record }) => record.steps.length > 0) as Incoming<'agent.steps'>;
    const { requestId, iteration, steps: made } = real.record;
    const [{ action }] = made as [AgentStep];
    const without: Configuration = { ...first(), tools: first().tools.filter(({ key }) => key !== action) };
    const changes = async (reader: LogReader) => {
      const found = await reconsidered(without, reader);
      return found.find(({ topic, offset }) => topic === real.topic && offset === real.offset)?.changes;
    };
    const before = await changes(archive);
    expect(before).toEqual([expect.objectContaining({ kind: 'call', tool: action })]);
    const both = {
      read: (topics: readonly Topic[], options: ReadOptions) =>
        (async function* () {
          for await (const one of archive.read(topics, options)) {
            const isTurn = one.topic === 'agent.tool-calls' && one.record.requestId === requestId;
            if (isTurn && one.record.iteration === iteration)
              yield { ...one, avro: null, record: { ...one.record, thought: 'of a turn before', calls: [] } };
            yield one;
          }
        })(),
    } as LogReader;
    expect(await changes(both)).toEqual(before);
  });

  it('names a run that would end sooner, and one that would not', async () => {
    const { limits } = first();
    const short = await reconsidered({ ...first(), limits: { ...limits, maxIterations: 1 } });
    const ends = short.flatMap(({ topic, requestId, changes }) =>
      changes.map((one) => `${topic} ${requestId} ${JSON.stringify(one)}`),
    );
    expect(ends).toContainEqual('agent.toolsets endless {"kind":"run","was":"goes on","would":"max_iterations"}');
    const long = await reconsidered({ ...first(), limits: { ...limits, historyBytes: 1_000_000 } });
    const goes = long.filter(({ requestId }) => requestId === 'full').flatMap(({ changes }) => changes);
    expect(goes).toContainEqual({ kind: 'run', was: 'size_exceeded', would: 'goes on' });
    expect(goes).toContainEqual(expect.objectContaining({ kind: 'call', was: 'refused: history full', would: 'made' }));
  });

  it.each([
    [{ tenant: 'local' }, 9],
    [{ tool: ['mcp__analysis__reset-workflow', 'reset-workflow'] }, 9],
    [{ tenant: 'another' }, 0],
    [{ tool: ['core__text-completion', 'text-completion'] }, 0],
  ])('names decisions on approvals of a tenant, and of a tool: %j', async (selection, count) => {
    const policy = { ...first().policy, approvers: ['user:eve'] };
    const found = await reconsidered({ ...first(), policy }, archive, selection);
    const judged = found.filter(({ topic, changes }) => topic === 'agent.approvals' && changes.length > 0);
    expect(judged).toHaveLength(count);
  });

  it('names a decision on an approval that would not count', async () => {
    const policy = { ...first().policy, approvers: ['user:eve'] };
    const found = (await reconsidered({ ...first(), policy })).filter(({ topic }) => topic === 'agent.approvals');
    const changes = found.flatMap((one) => one.changes);
    // Where the call that waited was: the one before it in its turn had led there.
    expect(new Set(found.map(({ state, tenant }) => `${state} ${tenant}`))).toEqual(new Set(['results local']));
    const about = { kind: 'approval', tool: 'reset-workflow' };
    expect(changes).toContainEqual({ ...about, was: 'taken', would: 'not_an_approver' });
    expect(changes).toContainEqual({ ...about, was: 'not_an_approver', would: 'already_decided' });
  });
});
