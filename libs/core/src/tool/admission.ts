import type { BrokenHistory, RuleFacts, RuleKind } from '../availability/types.js';
import { pastInWords } from '../past/words.js';
import { quote } from '../quote.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { budgetUsed } from '../rules/budget-used.js';
import { type CallCounts } from '../rules/call-counts.js';
import type { Evaluator } from '../rules/evaluate.js';
import type { RuleDecision } from '../rules/rules.js';
import { isListed, mayCallAgents } from '../rules/tool-policy.js';
import type { Policy } from '../settings/policy-types.js';
import type { Verdict } from './pipeline.js';

/**
 * The two configurations a call is judged under: the one that granted, and the one now in force, which may only deny.
 */
export interface Judges {
  readonly granting: Evaluator;
  readonly inForce: Evaluator;
}

export interface CallFacts {
  readonly groups: readonly string[];
  /** The state at the start of this call. */
  readonly state: string;
  /** Ids that the filter offered for this turn. */
  readonly offered: ReadonlySet<string>;
  /** What the model may or must do with them, as the records have it (toolChoiceOf). */
  readonly toolChoice: string | null;
  /** How often each tool ran in this run before this call. */
  readonly calls: CallCounts;
  /** Whether a call before this one ended the run. */
  readonly completed: boolean;
  /** Ids of the connections that the request may use under the configuration that granted. */
  readonly connections: readonly string[];
  /** How many calls of agents the run is within. */
  readonly depth: number;
  /**
   * What the rules on availability are judged by, at the start of this call; absent where no configuration has rules.
   */
  readonly rules?: RuleFacts;
  /** The page that must be read before the tool’s first call; absent where none must. */
  readonly unread?: string;
}

/**
 * Why a tool is not eligible now, or that it is: the run’s end, the request’s choice, group, state, the offer, and
 * whether it can run at all.
 */
export function eligible(toolId: string, facts: CallFacts, judges: Judges): Verdict {
  if (facts.completed) {
    const message = 'The run was ended by a call before this one, so this call was not made.';
    return { ok: false, code: 'policy_denied', reason: 'run_completed', message };
  }
  if (facts.toolChoice === 'none') {
    const message =
      'The request wants no tool to be called (its tool_choice is none), so this call was not made. Answer without a tool.';
    return { ok: false, code: 'policy_denied', reason: 'none_chosen', message };
  }
  const tool = judges.granting.byId(toolId);
  if (tool === undefined) {
    return {
      ok: false,
      code: 'unavailable',
      reason: 'unknown_tool',
      message: `There is no tool of that name. ${offer(toolId, facts, judges)}`,
    };
  }
  for (const { rules } of [judges.granting, judges.inForce]) {
    const verdict = byGroupAndState(tool, rules.decide(facts.groups, facts.state), facts, judges);
    if (!verdict.ok) return verdict;
  }
  const open = isOpen(toolId, facts, judges);
  if (!open.ok) return open;
  if (!allowed(toolId, facts, judges).ok) return { ok: true };
  if (tool.spec === null) {
    return {
      ok: false,
      code: 'unavailable',
      reason: 'not_bound',
      message: `The tool ${toolId} is not available now. ${offer(toolId, facts, judges)}`,
    };
  }
  // The connection stage refuses it, and says why.
  if (tool.connection !== undefined && !facts.connections.includes(tool.connection)) return { ok: true };
  if (!facts.offered.has(toolId)) {
    return {
      ok: false,
      code: 'policy_denied',
      reason: 'grant_invalid',
      message: `The tool ${toolId} was not offered in this turn. ${offer(toolId, facts, judges)}`,
    };
  }
  if (facts.unread === undefined) return { ok: true };
  const message = `This is the first call of ${toolId}, and its documentation has not been read: read the file ${facts.unread}, then call it again.`;
  return { ok: false, code: 'policy_denied', reason: 'documentation_unread', message };
}

/** Whether no rule of either configuration closes the tool now. */
function isOpen(toolId: string, facts: CallFacts, judges: Judges): Verdict {
  for (const { availability, configuration } of [judges.granting, judges.inForce]) {
    if (!availability.hasRules) continue;
    const place = configuration.tools.findIndex(({ id }) => id === toolId);
    const { rules } = facts;
    // Without facts everything that a rule is about is closed.
    const closed = rules === undefined ? -1 : availability.closed(rules, facts.calls, facts.state);
    const closing = closed & availability.ofTool(place);
    const [kind] = availability.kindsOf(closing);
    if (kind === undefined) continue;
    const [broken] = kind === 'history' ? availability.historyOf(closing) : [];
    const why = broken === undefined ? closedTexts[kind] : byHistory(broken, facts.offered);
    const message = `The tool ${toolId} ${why} ${offer(toolId, facts, judges)}`;
    const rule = availability.named(closing).find((one) => one.kind === kind)?.rule;
    const reason = `closed_by_${kind}` as const;
    return { ok: false, code: 'policy_denied', reason, message, ...(rule === undefined ? {} : { rule }) };
  }
  return { ok: true };
}

const closedTexts: Readonly<Record<RuleKind, string>> = {
  context: 'is not available to requests such as this one.',
  time: 'is not available at this time.',
  load: 'is not available under the load of this moment.',
  history: 'is not available after what this run did so far.',
};

/**
 * Which rule on the run’s history closes the tool, and what it asks for. Of tools it names those alone that the turn
 * was offered: others may be none of the caller’s business.
 */
function byHistory({ rule, history }: BrokenHistory, offered: ReadonlySet<string>): string {
  const named = (ids: readonly string[]): string => {
    const known = ids.filter((id) => offered.has(id));
    return known.length === ids.length ? known.join(', ') : [...known, 'other tools'].join(', ');
  };
  const { past, after, notAfter, atMost, whileApproved, afterSuccessLast = [], notWhileRunning = [] } = history;
  const where = past === undefined ? '' : ` ${pastInWords(past)}`;
  const asks = [
    ...(after.length === 0 ? [] : [`only after a call of ${named(after)} succeeded${where}`]),
    ...(notAfter.length === 0 ? [] : [`not after a call of ${named(notAfter)}${where}`]),
    ...(atMost === null
      ? []
      : [
          `at most ${atMost} ${atMost === 1 ? 'call' : 'calls'} of its tools ${past === undefined ? 'in a run' : where.trimStart()}`,
        ]),
    ...(afterSuccessLast.length === 0
      ? []
      : [`only while the last call of ${named(afterSuccessLast)}${where} is one that succeeded`]),
    ...(notWhileRunning.length === 0 ? [] : [`not while a call of ${named(notWhileRunning)} runs${where}`]),
    ...(whileApproved.length === 0 ? [] : [`only while an approved call of ${named(whileApproved)} holds`]),
  ];
  const did = past === undefined ? 'this run did so far' : `was done ${where.trimStart()}`;
  return `is not available after what ${did}, by the rule ${quote(rule)}: ${asks.join('; ')}.`;
}

/** Whether both policies allow the tool and leave it a call in this run. Its approval is asked for by a later stage. */
export function allowed(toolId: string, facts: CallFacts, judges: Judges): Verdict {
  for (const { configuration, policy, byId } of [judges.granting, judges.inForce]) {
    const tool: Pick<ConfiguredTool, 'id' | 'spec' | 'agent' | 'plan'> = byId(toolId) ?? { id: toolId, spec: null };
    if (policy.decide(tool) === 'deny') {
      // It is in the lists: what it lacks is an approver.
      return configuration.policy.allowedTools.includes(toolId) && isListed(tool, configuration.policy)
        ? nobodyApproves(toolId, facts, judges)
        : notAllowed(toolId, facts, judges);
    }
    if (tool.agent !== undefined && !mayCallAgents(facts.depth, configuration.policy))
      return tooDeep(toolId, configuration.policy, facts, judges);
    const used = budgetUsed(toolId, facts.calls, configuration.policy.budgets);
    if (used !== null) return spent(toolId, used);
  }
  return { ok: true };
}

function notAllowed(toolId: string, facts: CallFacts, judges: Judges): Verdict {
  const message = `The tool ${toolId} is not allowed here. ${offer(toolId, facts, judges)}`;
  return { ok: false, code: 'policy_denied', reason: 'not_allowed', message };
}

function tooDeep(toolId: string, { agentDepth = 1 }: Policy, facts: CallFacts, judges: Judges): Verdict {
  const why = agentDepth === 1 ? 'an agent calls no other' : `agents call agents ${agentDepth} levels deep at most`;
  const message = `The tool ${toolId} is an agent, and ${why}. ${offer(toolId, facts, judges)}`;
  return { ok: false, code: 'policy_denied', reason: 'nested_agent', message };
}

function nobodyApproves(toolId: string, facts: CallFacts, judges: Judges): Verdict {
  const message = `The tool ${toolId} needs an approval, and there is nobody to give it. ${offer(toolId, facts, judges)}`;
  return { ok: false, code: 'policy_denied', reason: 'no_approver', message };
}

function spent(toolId: string, used: 'tool' | 'run'): Verdict {
  const message =
    used === 'tool'
      ? `The tool ${toolId} has made all the calls it has in this run. Use another tool, or answer without it.`
      : 'All the tool calls of this run are made. Answer without a tool.';
  return { ok: false, code: 'policy_denied', reason: 'budget_used', message };
}

function byGroupAndState(tool: ConfiguredTool, decision: RuleDecision, facts: CallFacts, judges: Judges): Verdict {
  if (decision.eligible.includes(tool.key)) return { ok: true };
  if (decision.filteredByState.includes(tool.key)) {
    const message = `The tool ${tool.id} is not available in the state ${decision.state}. ${offer(tool.id, facts, judges)}`;
    return { ok: false, code: 'policy_denied', reason: 'not_eligible_state', message };
  }
  const message = `The tool ${tool.id} is not available for this request. ${offer(tool.id, facts, judges)}`;
  return { ok: false, code: 'policy_denied', reason: 'not_eligible_group', message };
}

/**
 * What of the turn’s offer may be called in the place of this tool: not the tool itself, nor what a call before this
 * one has closed.
 */
function offer(toolId: string, facts: CallFacts, { granting, inForce }: Judges): string {
  const { offered, groups, state } = facts;
  if (offered.size === 0) return 'No tools were offered: answer without one.';
  const decisions = [granting, inForce].map(({ rules }) => new Set(rules.decide(groups, state).eligible));
  const left = [...offered].filter((id) => {
    const key = granting.byId(id)?.key;
    return id !== toolId && key !== undefined && decisions.every((eligible) => eligible.has(key));
  });
  return left.length === 0
    ? 'No other tool is available now: answer without one.'
    : `Offered were: ${left.slice(0, 50).join(', ')}.`;
}
