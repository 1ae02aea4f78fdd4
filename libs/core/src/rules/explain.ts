import type { SpanLimit } from '../past/spans.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { Decision, Evaluator, Facts } from './evaluate.js';
import { type HiddenReason, hiddenReasonTexts } from './hidden-reasons.js';
import { chooseTools } from './tool-choice.js';
import { transition } from './transition.js';

/** What `sluice explain` prints, as it stands on the wire: tool keys in configuration order. */
interface Explanation {
  readonly eligible: readonly string[];
  readonly permitted: readonly string[];
  /** What the model is really given: the permitted tools that can run, have calls left and are closed by no rule. */
  readonly offered: readonly string[];
  /** For each eligible tool that rules close: their names. */
  readonly closed: Readonly<Record<string, readonly string[]>>;
  /** For each eligible tool whose arguments are bounded: the rules that say so. Absent where none is. */
  readonly bounded?: Readonly<Record<string, readonly string[]>>;
  /** For each eligible tool whose calls rules with a span count: up to what. Absent where none is. */
  readonly counted?: Readonly<Record<string, readonly SpanLimit[]>>;
  readonly filtered_by_group: readonly string[];
  readonly filtered_by_state: readonly string[];
  readonly unknown_groups: readonly string[];
  /** For each eligible tool the state after it succeeds. */
  readonly transitions: Readonly<Record<string, string>>;
  /** For each tool that is not offered every reason, with what it says. */
  readonly hidden: Readonly<Record<string, Readonly<Partial<Record<HiddenReason, string>>>>>;
  readonly config_version: string;
  /** Where the request has a tool_choice: what it comes to in the first iteration, as on the Toolset. */
  readonly tool_choice?: string;
  /** Where it can have no tool_choice such as it has: why it is refused. */
  readonly refused?: string;
}

/** Tells a decision in the documents' names; read off the one evaluator, so it cannot differ from it. */
export function explain(evaluator: Evaluator, facts: Facts, toolChoice: string | null = null): Explanation {
  const decision = evaluator.evaluate(facts);
  const places = new Map(evaluator.configuration.tools.map((tool, place) => [tool.key, { tool, place }]));
  return {
    eligible: decision.eligible,
    permitted: decision.permitted,
    offered: decision.offered.map(({ key }) => key),
    closed: Object.fromEntries(
      decision.eligible.flatMap((key) => {
        const rules = closing(places.get(key)?.place, decision, evaluator);
        return rules.length === 0 ? [] : [[key, [...new Set(rules.map(({ rule }) => rule))]]];
      }),
    ),
    ...bounded(decision, places, evaluator, facts),
    ...counted(decision, places, evaluator, facts),
    filtered_by_group: decision.filteredByGroup,
    filtered_by_state: decision.filteredByState,
    unknown_groups: decision.unknownGroups,
    transitions: Object.fromEntries(
      decision.eligible.map((key) => [key, transition(places.get(key)?.tool ?? { target: null }, decision.state)]),
    ),
    hidden: Object.fromEntries(
      decision.hidden.map(({ key, reasons }) => [
        key,
        Object.fromEntries(reasons.map((reason) => [reason, sentence(reason, places.get(key), decision, evaluator)])),
      ]),
    ),
    config_version: decision.configVersion,
    ...chosen(toolChoice, decision),
  };
}

/** The rules that bound the arguments of eligible tools for this request. */
function bounded(
  { eligible, state }: Decision,
  places: ReadonlyMap<string, { readonly tool: ConfiguredTool }>,
  { argumentRules }: Pick<Evaluator, 'argumentRules'>,
  { rules }: Facts,
): Pick<Explanation, 'bounded'> {
  if (!argumentRules.hasBounds || rules === undefined) return {};
  const named = eligible.flatMap((key): [string, readonly string[]][] => {
    const binding = argumentRules.of(places.get(key)?.tool.id ?? '', rules, state);
    return binding.length === 0 ? [] : [[key, binding.map(({ rule }) => rule)]];
  });
  return named.length === 0 ? {} : { bounded: Object.fromEntries(named) };
}

/** What rules with a span count of eligible tools’ calls, for this request. How much was used is not known here. */
function counted(
  { eligible, state }: Decision,
  places: ReadonlyMap<string, { readonly tool: ConfiguredTool }>,
  { past }: Pick<Evaluator, 'past'>,
  { rules }: Facts,
): Pick<Explanation, 'counted'> {
  if (rules === undefined) return {};
  const { tenant: tenantId, actor: userId, agent } = rules;
  const caller = { tenantId, userId, agent, sessionId: '', requestId: '' };
  const found = eligible.flatMap((key): [string, readonly SpanLimit[]][] => {
    const spans = past.spans({ toolId: places.get(key)?.tool.id ?? '', caller, state }, rules);
    return spans.length === 0 ? [] : [[key, spans.map(({ limit }) => limit)]];
  });
  return found.length === 0 ? {} : { counted: Object.fromEntries(found) };
}

/** A tool that cannot run knows why itself; of rules the names are said. */
function sentence(
  reason: HiddenReason,
  at: { readonly tool: ConfiguredTool; readonly place: number } | undefined,
  decision: Pick<Decision, 'closed'>,
  evaluator: Pick<Evaluator, 'availability'>,
): string {
  const text = hiddenReasonTexts[reason];
  if (at === undefined) return text;
  if (reason === 'unavailable') return at.tool.unavailable ?? text;
  const rules = closing(at.place, decision, evaluator).filter(({ kind }) => kind === reason);
  return rules.length === 0 ? text : `${text.slice(0, -1)}: ${rules.map(({ rule }) => rule).join(', ')}.`;
}

/** The conditions that close a tool. */
function closing(
  place: number | undefined,
  { closed }: Pick<Decision, 'closed'>,
  { availability }: Pick<Evaluator, 'availability'>,
): ReturnType<Evaluator['availability']['named']> {
  return place === undefined ? [] : availability.named(closed & availability.ofTool(place));
}

function chosen(asked: string | null, { offered }: Decision): Pick<Explanation, 'tool_choice' | 'refused'> {
  if (asked === null) return {};
  const verdict = chooseTools(asked, 1, offered);
  return verdict.ok ? { tool_choice: verdict.choice ?? 'auto' } : { refused: verdict.message };
}
