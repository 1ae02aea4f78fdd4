import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileEvaluator } from '@sluice/core';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import { openArchive } from '@sluice/archive';
import type { Archive } from '@sluice/archive';
import type { AgentStep, ToolCall, Topic, Toolset } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { everything, whatIf } from '@sluice/replay';
import type { Reconsidered } from '@sluice/replay';
import { mutated, mutations } from './mutations.js';
import type { Mutation } from './mutations.js';
import { authorizerOf, changed, undecodable } from './replaying.js';

type Counts = Readonly<Record<string, number>>;

/** The rules once more, written down as plainly as they read (spec/tool-groups.md §4.2), so that they can contradict the code. */
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
  return authorization.permissions.some(({ tools }) => tools.includes(tool.id));
}

/** What the model is shown of the tools that are offered. */
function shown(configuration: Configuration, toolset: Toolset): string[] {
  if (isOver(configuration, toolset)) return ['the end'];
  return offered(configuration, toolset).map((key) => {
    const tool = configuration.tools.find((one) => one.key === key);
    return `${key}: ${tool?.spec?.description}`;
  });
}

function offered(configuration: Configuration, { request, run }: Pick<Toolset, 'request' | 'run'>): string[] {
  const groups = request.group ?? ['default'];
  const state = request.state || 'undefined';
  const tools = configuration.tools.filter(
    (tool) => hiddenBy(tool, configuration, groups, state, run.toolCalls) === null,
  );
  return tools.map(({ key }) => key);
}

function fate(configuration: Configuration, turn: ToolCall, step: AgentStep, calls: Counts): string {
  const call = turn.calls[step.index];
  if (call === undefined || step.outcome === 'invalid_json') return 'the same';
  const tool = configuration.tools.find(({ id }) => id === call.tool);
  if (tool === undefined) return 'unknown';
  const hidden = hiddenBy(tool, configuration, turn.groups, step.stateBefore, calls);
  if (hidden !== null) return hidden;
  if (!offered(configuration, turn).includes(tool.key)) return 'grant_invalid';
  if (!isPermitted(configuration, tool)) return 'authz_denied';
  if (Buffer.byteLength(call.arguments) > configuration.limits.argumentBytes) return 'arguments_too_large';
  if (step.outcome === 'validation' && step.reason === null) return 'the same';
  const waits = configuration.policy.approvalEffects.includes(tool.spec?.effect ?? 'external_side_effect');
  return `${waits ? 'waits' : 'made'} ${step.outcome === 'ok' ? (tool.target ?? step.stateBefore) : ''}`;
}

const place = ({ topic, offset }: { topic: string; offset: number }): string => `${topic}/${offset}`;

describe('what a candidate would change (DESIGN 4.13)', () => {
  const configurations = new Map<string, Configuration>();
  const toolsets: Incoming<'agent.toolsets'>[] = [];
  const turns: Incoming<'agent.tool-calls'>[] = [];
  const steps: Incoming<'agent.steps'>[] = [];
  let archive: Archive;
  let reconsidered: (candidate: Configuration, reader?: LogReader) => Promise<Reconsidered[]>;
  beforeAll(async () => {
    archive = await openArchive(join(import.meta.dirname, '../fixtures/released/1.sluice'));
    for await (const { record } of archive.read(['agent.config'], { from: 'start' }))
      configurations.set(record.version, JSON.parse(record.configuration) as Configuration);
    for await (const message of archive.read(['agent.toolsets'], { from: 'start' })) toolsets.push(message);
    for await (const message of archive.read(['agent.tool-calls'], { from: 'start' })) turns.push(message);
    for await (const message of archive.read(['agent.steps'], { from: 'start' })) steps.push(message);
    const signal = new AbortController().signal;
    const given = { selection: everything, authorizerOf, signal, onUndecodable: undecodable };
    reconsidered = async (candidate, reader = archive) => {
      const found = [];
      for await (const one of whatIf(reader, { ...given, candidate: compileEvaluator(candidate) })) found.push(one);
      return found;
    };
  });
  const first = (): Configuration => configurations.values().next().value as Configuration;

  /** Which decisions on tools and calls the candidate alters, by the plain rules. */
  function expected(candidate: Configuration): string[] {
    const altered: string[] = [];
    for (const { topic, offset, record } of toolsets) {
      const was = record.tools.map(({ key, description }) => `${key}: ${description}`);
      if (shown(candidate, record).join() !== was.join()) altered.push(place({ topic, offset }));
    }
    for (const { topic, offset, record } of steps) {
      const { requestId, iteration } = record;
      const turn = turns.find(
        (one) => one.record.requestId === requestId && one.record.iteration === iteration,
      )?.record;
      if (turn === undefined || requestId === 'full') continue;
      const granted = configurations.get(turn.configVersion) as Configuration;
      const calls: Record<string, number> = { ...turn.run.toolCalls };
      let otherwise = false;
      for (const step of record.steps) {
        otherwise ||= fate(granted, turn, step, calls) !== fate(candidate, turn, step, calls);
        const id = turn.calls[step.index]?.tool ?? '';
        const ran = step.outcome === 'ok' || step.outcome === 'execution';
        if (ran) calls[id] = (calls[id] ?? 0) + 1;
      }
      if (otherwise) altered.push(place({ topic, offset }));
    }
    return altered;
  }

  it('is nothing where the candidate is what was in force', async () => {
    const found = await reconsidered(first());
    const later = new Set(toolsets.filter(({ record }) => record.configVersion !== first().version).map(place));
    expect(later.size).toBeGreaterThan(0);
    const early = found.filter((one) => one.changes.length > 0 && !one.requestId.endsWith('-2'));
    expect(early).toEqual([]);
    expect(found.filter(({ notReplayable }) => notReplayable !== null)).toEqual([]);
  });

  it('rests on no list of unavailable tools, whatever a record has there', async () => {
    const filled = changed(archive, (message) => {
      if (message.topic !== 'agent.toolsets') return message;
      const unavailable = message.record.tools.map(({ id }) => id);
      return { ...message, record: { ...message.record, unavailable } };
    });
    expect(await reconsidered(first(), filled)).toEqual(await reconsidered(first()));
  });

  /** The found changes to tools and calls, held against what the plain rules say; how many there are. */
  async function alteredBy(changes: readonly Mutation[]): Promise<number> {
    const candidate = changes.reduce(mutated, first());
    const found = (await reconsidered(candidate)).filter((one) => one.changes.length > 0);
    const known = found.filter(
      ({ topic, requestId }) => topic === 'agent.toolsets' || (topic === 'agent.steps' && requestId !== 'full'),
    );
    expect(known.map(place).sort()).toEqual(expected(candidate).sort());
    return known.length;
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

  it('is of the calls that were made, where the turn had gone back to the filter and the model was asked anew', async () => {
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

  it('names a decision on an approval that would not count', async () => {
    const policy = { ...first().policy, approvers: ['user:eve'] };
    const found = (await reconsidered({ ...first(), policy })).filter(({ topic }) => topic === 'agent.approvals');
    const changes = found.flatMap((one) => one.changes);
    expect(changes).toContainEqual({ kind: 'approval', was: 'taken', would: 'not_an_approver' });
    expect(changes).toContainEqual({ kind: 'approval', was: 'not_an_approver', would: 'already_decided' });
  });
});
