import type { Toolset } from '@sluice/contracts';
import { whatOpens } from '@sluice/core';
import type { ConfiguredTool, Evaluator, Principal } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import { bareToolset, budgetsUsed, closedIn, loadedFor, ownCallIn, toolsetOfCall, verdictsOf } from '@sluice/run';
import type { Configurations, HiddenPart, OfOwnCall } from '@sluice/run';
import { shownGroups } from '../listed-tool.js';
import type { ShownGroups } from '../listed-tool.js';

/** Tools that one answer has with their verdicts, at most, over all iterations. */
const mostVerdicts = 5_000;
/** Of a tool’s description. */
const longestDescription = 300;

/** Who reads the verdicts. */
interface VerdictReader {
  readonly caller: Principal;
  /** An operator sees every tool with its rules; others the tools of groups that they may ask for. */
  readonly seesAll: boolean;
}

/**
 * The iterations of a run with the verdict on every tool, from its Toolsets in the order of the log. A call that its
 * request makes itself has none: there the decision is made once more from what the record says of it.
 */
export class RunVerdicts {
  private readonly iterations = new Map<number, object>();
  /** By the iteration: where hidden tools stand that later iterations have as well. */
  private readonly lists = new Map<number, HiddenPart>();
  private left = mostVerdicts;

  constructor(
    private readonly reader: VerdictReader,
    private readonly configurations: Pick<Configurations, 'versionOrNull'>,
    /** The one iteration that is wanted; null for all. */
    private readonly only: number | null,
  ) {}

  add(message: Incoming): void {
    if (message.topic === 'agent.toolsets') return this.addToolset(message.record);
    if (message.topic !== 'agent.steps' && message.topic !== 'agent.tool-calls') return;
    const own = ownCallIn(message.record);
    if (own !== null) this.addCall(own);
  }

  private addCall(own: OfOwnCall): void {
    const evaluator = this.evaluatorOf(own);
    const toolset = evaluator === null ? null : toolsetOfCall(own, evaluator);
    if (toolset !== null) return this.addToolset(toolset);
    const bare = bareToolset(own);
    if (this.only === null || this.only === bare.iteration) this.iterations.set(bare.iteration, this.json(bare, null));
  }

  private addToolset(record: Toolset): void {
    const { iteration, list, hidden, hiddenIndexes } = record;
    if (list === null || list.since === iteration) this.lists.set(iteration, { hidden, hiddenIndexes });
    if (this.only !== null && this.only !== iteration) return;
    // The iterations of an attempt that a redrive made take the place of those before.
    this.iterations.set(iteration, this.json(record, this.evaluatorOf(record)));
  }

  /** Null where the configuration is not here. */
  private evaluatorOf({ configVersion, request }: Pick<Toolset, 'configVersion' | 'request'>): Evaluator | null {
    const common = this.configurations.versionOrNull(configVersion);
    return common === null ? null : loadedFor(common, request).evaluator;
  }

  get isEmpty(): boolean {
    return this.iterations.size === 0;
  }

  all(): readonly object[] {
    return [...this.iterations.values()];
  }

  private json(record: Toolset, evaluator: Evaluator | null): object {
    const { iteration, decidedAt, state, groups, unknownGroups, configVersion, toolChoice, run } = record;
    const shown = evaluator === null ? () => [] : shownGroups(evaluator, this.reader.caller);
    return {
      iteration,
      decided_at: decidedAt,
      state,
      group: groups,
      fallback_groups: record.fallbackGroups,
      unknown_groups: unknownGroups,
      config_version: configVersion,
      tool_choice: toolChoice,
      deadline: run.deadline,
      max_iterations: run.maxIterations,
      budgets: evaluator === null ? null : this.budgets(record, evaluator, shown),
      ...this.verdicts(record, evaluator, shown),
    };
  }

  private verdicts(record: Toolset, evaluator: Evaluator | null, shown: ShownGroups): object {
    const { iteration, list } = record;
    const none = { same_as: null, offered_count: null, hidden_count: null, tools: null, left_out: 0 };
    if (evaluator === null) return none;
    const since = list?.since ?? iteration;
    const first = this.lists.get(since) ?? { hidden: [], hiddenIndexes: [] };
    const closed = closedIn(record, evaluator);
    const seen = verdictsOf(record, first, evaluator).filter(
      ({ tool, offered }) => offered || this.reader.seesAll || shown(tool.key).length > 0,
    );
    const offeredCount = seen.filter(({ offered }) => offered).length;
    const counts = { offered_count: offeredCount, hidden_count: seen.length - offeredCount };
    const isSame = since !== iteration && this.only === null && this.iterations.has(since);
    if (isSame) return { ...none, ...counts, same_as: since };
    const listed = seen.slice(0, this.left);
    this.left -= listed.length;
    const named = namedBy(evaluator, shown, this.reader.seesAll);
    const tools = listed.map(({ tool, offered, reasons }) => ({
      ...toolJson(tool, this.reader.seesAll ? () => tool.groups : shown),
      offered,
      reasons: whatOpens(tool, reasons, { evaluator, closed, named, whole: this.reader.seesAll }),
    }));
    return { ...none, ...counts, tools, left_out: seen.length - listed.length };
  }

  private budgets(record: Toolset, evaluator: Evaluator, shown: ShownGroups): object {
    const { calls, tokens, microUsd, tools } = budgetsUsed(record, evaluator);
    const seen = tools.filter(({ tool }) => this.reader.seesAll || shown(tool.key).length > 0);
    return {
      calls,
      tokens,
      micro_usd: microUsd,
      tools: seen.map(({ tool, used, limit }) => ({ tool: tool.key, used, limit })),
    };
  }
}

/** The groups whose names the reader may learn: those of tools that it may ask for, and for operators all. */
function namedBy({ configuration }: Evaluator, shown: ShownGroups, seesAll: boolean): (group: string) => boolean {
  if (seesAll) return () => true;
  const names = new Set(configuration.tools.flatMap(({ key }) => shown(key)));
  return (group) => names.has(group);
}

function toolJson({ key, id, title, description, spec }: ConfiguredTool, shown: ShownGroups): object {
  const text = spec?.description ?? description;
  return {
    ...{ key, id, title },
    description: text.length <= longestDescription ? text : `${text.slice(0, longestDescription)}…`.toWellFormed(),
    effect: spec?.effect ?? null,
    groups: shown(key),
  };
}
