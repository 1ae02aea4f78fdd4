import { isPastOpen } from '../past/facts.js';
import type { ApprovalRule } from '../settings/policy-types.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { binds, holds, isHistoryOpen } from './conditions.js';
import { budgetLeft, isLoadClosing, measureName } from './load.js';
import { openInMinute } from './time.js';
import type { AvailabilityRule, BrokenHistory, RuleFacts, RuleKind, RunHistory } from './types.js';

/** Conditions of all rules together, at most: the closed ones are the bits of one number. */
export const mostConditions = 31;

/** One condition of a rule. */
interface Part {
  readonly kind: RuleKind;
  readonly rule: AvailabilityRule;
  isClosed(facts: RuleFacts, calls: RunHistory['calls'], state: string): boolean;
}

/** The rules of a configuration made ready for decisions. */
export interface Availability {
  /**
   * Whether there is a rule at all, a bound, a claim for the authorizer, or a rule on approvals by caller or arguments:
   * whether anything is judged by RuleFacts.
   */
  readonly hasRules: boolean;
  /** Which conditions do not hold, as bits; 0: everything is open. */
  closed(facts: RuleFacts, calls: RunHistory['calls'], state: string): number;
  /** The conditions that the tool at this place depends on, as bits. */
  ofTool(place: number): number;
  /** The kinds of these conditions. */
  kindsOf(bits: number): readonly RuleKind[];
  /** The names of the rules of these conditions, and their kinds. */
  named(bits: number): readonly { readonly rule: string; readonly kind: RuleKind }[];
  /** What of these conditions is about the run’s history. */
  historyOf(bits: number): readonly BrokenHistory[];
}

/** Whether a rule on approvals asks who calls, or with which arguments. */
function isJudgedByFacts({ whom, unless }: ApprovalRule): boolean {
  return whom !== undefined || unless !== undefined;
}

/** Compiles the rules on when tools are available, once per configuration version. */
export function compileAvailability(
  { tools, rules = [], policy }: Pick<Configuration, 'tools' | 'rules' | 'policy'>,
  isJudgedElsewhere = false,
): Availability {
  const parts = rules.flatMap((rule) => partsOf(rule, policy));
  const byTool = tools.map(({ id }) => bitsOf(id, parts));
  const numbered = parts.map(({ kind, rule }, n) => ({ bit: 1 << n, kind, rule: rule.name }));
  return {
    hasRules: parts.length > 0 || isJudgedElsewhere || (policy.approvalRules ?? []).some(isJudgedByFacts),
    closed(facts, calls, state) {
      let bits = 0;
      for (let n = 0; n < parts.length; n++) {
        const part = parts[n] as Part;
        if (part.isClosed(facts, calls, state) && binds(part.rule.whom, facts, state)) bits |= 1 << n;
      }
      return bits;
    },
    ofTool: (place) => byTool[place] ?? 0,
    kindsOf: (bits) => [...new Set(numbered.filter(({ bit }) => (bits & bit) !== 0).map(({ kind }) => kind))],
    historyOf: (bits) =>
      parts.flatMap(({ kind, rule: { name, history } }, n) =>
        kind === 'history' && history !== undefined && (bits & (1 << n)) !== 0 ? [{ rule: name, history }] : [],
      ),
    named: (bits) => numbered.filter(({ bit }) => (bits & bit) !== 0).map(({ rule, kind }) => ({ rule, kind })),
  };
}

function bitsOf(id: ConfiguredTool['id'], parts: readonly Part[]): number {
  return parts.reduce((bits, { rule }, n) => (rule.tools.includes(id) ? bits | (1 << n) : bits), 0);
}

function partsOf(rule: AvailabilityRule, { budgets, approvalMs }: Configuration['policy']): readonly Part[] {
  const { when, unless, time, load, history } = rule;
  const parts: Part[] = [];
  if (when !== undefined || unless !== undefined) {
    parts.push({
      ...{ kind: 'context', rule },
      isClosed: (facts, _calls, state) =>
        (when !== undefined && !holds(when, facts, state)) || (unless !== undefined && holds(unless, facts, state)),
    });
  }
  if (time !== undefined) {
    const isOpen = openInMinute(time);
    parts.push({ kind: 'time', rule, isClosed: ({ at }) => !isOpen(at) });
  }
  if (load !== undefined) {
    const name = measureName(load.measure);
    const own = load.measure === 'run_budget_left';
    parts.push({
      ...{ kind: 'load', rule },
      isClosed: ({ loads, held, spent }, calls) =>
        isLoadClosing(load, rule.name, own ? budgetLeft(budgets, calls, spent) : loads[name], held),
    });
  }
  if (history !== undefined) {
    parts.push({
      ...{ kind: 'history', rule },
      isClosed: (facts, calls) => {
        if (history.past !== undefined) return !isPastOpen(history, history.past, rule.tools, facts);
        const { succeeded, approved, at } = facts;
        return !isHistoryOpen(history, rule.tools, { calls, succeeded, approved }, at, approvalMs);
      },
    });
  }
  return parts;
}
