import { hiddenReasons } from '@sluice/core';
import type { ConfiguredTool, Evaluator, HiddenReason } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import { ruleFactsOf } from './conditions.js';
import { keysAt, offeredIds } from './tool-list.js';

/** What the filter decided about one tool for a turn. */
export interface ToolVerdict {
  readonly tool: ConfiguredTool;
  /** Empty for a tool that was offered. */
  readonly reasons: readonly HiddenReason[];
  readonly offered: boolean;
}

/** The part of a Toolset in which its hidden tools stand: its own, or that of the iteration its list is the same as. */
export type HiddenPart = Pick<Toolset, 'hidden' | 'hiddenIndexes'>;

/**
 * The verdict on each tool, in the order of the configuration that the record names, whose evaluator this is. `first`
 * is the part of the record that has the list (`list.since`).
 */
export function verdictsOf(record: Toolset, first: HiddenPart, evaluator: Evaluator): readonly ToolVerdict[] {
  const offered = new Set(offeredIds({ list: record.list, offered: record.tools.map(({ id }) => id) }, evaluator));
  const hidden = new Map<string, readonly string[]>(first.hidden.map(({ key, reasons }) => [key, reasons]));
  for (const { reasons, indexes } of first.hiddenIndexes)
    for (const key of keysAt(indexes, evaluator)) hidden.set(key, reasons);
  return evaluator.configuration.tools.map((tool) => {
    const reasons = hidden.get(tool.key) ?? [];
    return { tool, offered: offered.has(tool.id), reasons: hiddenReasons.filter((one) => reasons.includes(one)) };
  });
}

/** Conditions of rules that did not hold when the record was decided, as `Decision.closed` has them. */
export function closedIn(record: Toolset, evaluator: Evaluator): number {
  const { availability } = evaluator;
  if (!availability.hasRules) return 0;
  const { run, state, decidedAt } = record;
  return availability.closed(ruleFactsOf(record, evaluator, decidedAt), run.toolCalls, state);
}

interface Used {
  readonly used: number;
  readonly limit: number;
}

/** What the run had used of what it may use before the turn; null where there is no limit. */
interface BudgetsUsed {
  readonly calls: Used | null;
  readonly tokens: Used | null;
  /** Millionths of a US dollar. */
  readonly microUsd: Used | null;
  readonly tools: readonly (Used & { readonly tool: ConfiguredTool })[];
}

export function budgetsUsed(record: Toolset, evaluator: Evaluator): BudgetsUsed {
  const { configuration } = evaluator;
  const { callsPerRun, tokensPerRun, microUsdPerRun, tools } = configuration.policy.budgets;
  const { toolCalls } = record.run;
  const { tokens, microUsd } = ruleFactsOf(record, evaluator, record.decidedAt).spent;
  const of = (used: number | null, limit: number | null | undefined): Used | null =>
    limit === null || limit === undefined || used === null ? null : { used, limit };
  return {
    calls: of(
      Object.values(toolCalls).reduce((sum, count) => sum + count, 0),
      callsPerRun,
    ),
    tokens: of(tokens, tokensPerRun),
    microUsd: of(microUsd, microUsdPerRun),
    tools: configuration.tools.flatMap((tool) => {
      const limit = Object.hasOwn(tools, tool.id) ? tools[tool.id]?.callsPerRun : null;
      const one = of(Object.hasOwn(toolCalls, tool.id) ? (toolCalls[tool.id] ?? 0) : 0, limit);
      return one === null ? [] : [{ tool, ...one }];
    }),
  };
}
