import { noBudget, quote, suggestion, wildcard } from '@sluice/core';
import type { Budgets, ToolBudget } from '@sluice/core';
import { agentRanges, readUsd } from './agent-entry.js';
import { longestToolSeconds } from './entries.js';
import { type IdentifiedTool, toolsByName } from './identities.js';
import { configurationKeys } from './keys.js';
import { limitRanges } from './limits.js';
import type { Section } from './section.js';
import { readSpans } from './span-budgets.js';

/** Calls of all tools together in one run, where nothing is written. */
const callsPerRun = 100;

/** The most that may be written for each key of a budget. */
const budgetMaxima = {
  timeout_seconds: longestToolSeconds,
  result_bytes: limitRanges.result_bytes.most,
  calls_per_run: 10_000,
  calls_per_minute: 1_000_000,
} as const satisfies Record<(typeof configurationKeys)['policy.budgets.tools.<tool>'][number], number>;

/** `policy.budgets`: what calls may use up. `*` among the tools stands for what a tool's own entry does not say. */
export function readBudgets(
  section: Section,
  tools: readonly IdentifiedTool[],
  keys: readonly string[] = configurationKeys['policy.budgets'],
): Budgets {
  section.closed(keys);
  const byName = toolsByName(tools);
  const written = section.section('tools');
  const own = new Map<string, ToolBudget>();
  let others = noBudget;
  for (const name of written.keys()) {
    const entry = written.section(name);
    const budget = readBudget(entry);
    const id = byName.get(name)?.id;
    if (name === wildcard) others = budget;
    else if (id === undefined) entry.unknown(entry.path, 'tool', name, suggestion(name, [...byName.keys(), wildcard]));
    else if (own.has(id)) entry.problem(entry.path, `a second entry for the tool ${quote(id)}`, 'one entry for a tool');
    else own.set(id, budget);
  }
  const ids = [...new Set(tools.map((tool) => tool.id))];
  const budgets = ids.map((id) => [id, filled(own.get(id) ?? noBudget, others)] as const);
  const microUsdPerRun = readUsd(section, 'usd_per_run');
  const isLimited = microUsdPerRun !== null || section.has('tokens_per_run');
  return {
    callsPerRun: section.wholeNumber('calls_per_run', { byDefault: callsPerRun, most: budgetMaxima.calls_per_run }),
    ...(section.has('tokens_per_run')
      ? { tokensPerRun: section.wholeNumber('tokens_per_run', agentRanges.tokens) }
      : {}),
    ...(microUsdPerRun === null ? {} : { microUsdPerRun }),
    ...(isLimited ? { setsAsideAll: true } : {}),
    ...readSpans(section),
    tools: Object.fromEntries(budgets.filter(([, budget]) => Object.values(budget).some((value) => value !== null))),
  };
}

function readBudget(section: Section): ToolBudget {
  section.closed(configurationKeys['policy.budgets.tools.<tool>']);
  const seconds = readNumber(section, 'timeout_seconds');
  return {
    timeoutMs: seconds === null ? null : seconds * 1_000,
    resultBytes: readNumber(section, 'result_bytes'),
    callsPerRun: readNumber(section, 'calls_per_run'),
    callsPerMinute: readNumber(section, 'calls_per_minute'),
  };
}

function readNumber(section: Section, key: keyof typeof budgetMaxima): number | null {
  return section.has(key) ? section.wholeNumber(key, { byDefault: 1, most: budgetMaxima[key] }) : null;
}

function filled(own: ToolBudget, others: ToolBudget): ToolBudget {
  return {
    timeoutMs: own.timeoutMs ?? others.timeoutMs,
    resultBytes: own.resultBytes ?? others.resultBytes,
    callsPerRun: own.callsPerRun ?? others.callsPerRun,
    callsPerMinute: own.callsPerMinute ?? others.callsPerMinute,
  };
}
