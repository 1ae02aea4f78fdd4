import { conditionsInWords } from '../availability/in-words.js';
import type { RuleKind } from '../availability/types.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Configuration } from '../settings/configuration.js';
import { wildcard } from './defaults.js';
import type { Evaluator } from './evaluate.js';
import { type HiddenReason, hiddenReasonTexts } from './hidden-reasons.js';

/** Why a tool was hidden, and what has to change so that this reason holds no longer, both in words. */
interface ExplainedReason {
  readonly code: HiddenReason;
  readonly text: string;
  readonly opens: string;
}

/** What is known of the decision that hid the tool. */
interface HidingDecision {
  readonly evaluator: Evaluator;
  /** Conditions of rules that did not hold, as `Decision.closed` has them. */
  readonly closed: number;
  /** The groups whose names the reader may learn. */
  readonly named: (group: string) => boolean;
  /** Whether the reader may learn what the configuration says: rules, the policy and connections. */
  readonly whole: boolean;
}

/** Each reason for which a tool was hidden, with what would open it. */
export function whatOpens(
  tool: ConfiguredTool,
  reasons: readonly HiddenReason[],
  decision: HidingDecision,
): readonly ExplainedReason[] {
  return reasons.map((code) => {
    const text = code === 'unavailable' && decision.whole ? (tool.unavailable ?? hiddenReasonTexts[code]) : hiddenReasonTexts[code]; // prettier-ignore
    return { code, text, opens: opening(tool, code, decision) };
  });
}

function opening(tool: ConfiguredTool, reason: HiddenReason, decision: HidingDecision): string {
  const { configuration } = decision.evaluator;
  switch (reason) {
    case 'group': {
      const groups = tool.groups.filter(decision.named);
      return groups.length === 0
        ? 'Ask for a group that it is in.'
        : `Ask for ${oneOf(groups)}, or for a group that holds ${groups.length === 1 ? 'it' : 'one of these'}.`;
    }
    case 'state':
      return stateOpening(tool, configuration, decision);
    case 'policy':
      return decision.whole ? policyOpening(tool, configuration) : 'The operators would have to allow it.';
    case 'tool_ids':
      return tool.mcp?.kind === undefined
        ? `Name ${tool.id} in the request’s tool_ids, or leave tool_ids out.`
        : `Name ${tool.id} in the request’s tool_ids.`;
    case 'budget':
      return 'A new run begins with its calls unused.';
    case 'connection':
      return decision.whole
        ? `Name the connection ${tool.connection} in the request’s connections; its sender must be allowed to use it.`
        : 'Name a connection that it can use in the request’s connections.';
    case 'unavailable':
      return 'The operators would have to repair it: its arguments have to be known.';
    case 'depth':
      return 'A run that a caller asks for can call it; one that is as deep within agents’ calls as this one cannot.';
    case 'strategy':
      return 'Ask for a strategy that works by a plan.';
    case 'context':
    case 'time':
    case 'load':
    case 'history':
      return decision.whole ? ruleOpening(tool, reason, decision) : generalOpening[reason];
  }
}

/** For those who may not read the rules. */
const generalOpening: Readonly<Record<RuleKind, string>> = {
  context: 'Another kind of request may use it.',
  time: 'It opens again at another time.',
  load: 'It opens again when the load has changed.',
  history: 'Other calls have to come first, or this run has used what it may.',
};

function stateOpening(tool: ConfiguredTool, { tools }: Configuration, { named }: HidingDecision): string {
  const states = tool.states;
  const leading = tools
    .filter(
      ({ target, groups, spec }) => spec !== null && target !== null && states.includes(target) && groups.some(named),
    ) // prettier-ignore
    .map(({ key, target }) => `${key} leads to ${target ?? ''}`);
  const where = `It is available in ${states.length === 1 ? 'the state' : 'the states'} ${few(states)}.`;
  return leading.length === 0 ? where : `${where} ${few(leading)}.`;
}

function policyOpening({ id, agent }: ConfiguredTool, { policy }: Configuration): string {
  if (!policy.allowedTools.includes(id)) return `policy.allowed_tools would have to name ${id}.`;
  if (agent !== undefined && policy.allowedAgents?.includes(id) !== true)
    return `policy.allowed_agents would have to name ${id}.`;
  return 'policy.approval.approvers would have to name who may approve its calls.';
}

/** What the rules say that closed the tool by conditions of this kind. */
function ruleOpening(tool: ConfiguredTool, kind: RuleKind, { evaluator, closed }: HidingDecision): string {
  const { configuration, availability } = evaluator;
  const names = availability
    .named(closed & availability.ofTool(configuration.tools.indexOf(tool)))
    .filter((one) => one.kind === kind)
    .map((one) => one.rule);
  const keyOf = (id: string): string => evaluator.byId(id)?.key ?? id;
  const sentences = (configuration.rules ?? [])
    .filter(({ name }) => names.includes(name))
    .map((rule) => `The rule “${rule.name}”: ${conditionsInWords(rule, kind, keyOf).join(' ')}`);
  return sentences.length === 0 ? 'The rules of the configuration say when it opens.' : sentences.join(' ');
}

/** So many names are written out. */
const mostWritten = 8;

function few(names: readonly string[]): string {
  const shown = names.slice(0, mostWritten).map((name) => (name === wildcard ? 'all' : name));
  const left = names.length - shown.length;
  return left === 0 ? shown.join(', ') : `${shown.join(', ')} and ${left} more`;
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? `the group ${names[0] ?? ''}` : `one of the groups ${few(names)}`;
}
