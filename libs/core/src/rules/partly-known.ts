import { claimsInBounds } from '../availability/measures.js';
import type { AvailabilityRule, ContextCondition, Whom } from '../availability/types.js';
import type { ArgumentBound, ArgumentBounds } from '../bounds/types.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import { compileEvaluator } from './evaluate.js';
import type { Evaluator } from './evaluate.js';

/** What rules ask for, by who has to know it. */
export const ruleFactNames = ['tenant', 'actor', 'channel', 'claims', 'state', 'question', 'load', 'history'] as const;
export type RuleFactName = (typeof ruleFactNames)[number];

/** Facts that a run will have, and a listing or an explanation does not. */
export type Unknown = readonly RuleFactName[];

const asked: Readonly<Record<keyof ContextCondition, RuleFactName>> = {
  ...{ tenants: 'tenant', actors: 'actor', channels: 'channel', claims: 'claims', states: 'state' },
  ...{ languages: 'question', questionBytes: 'question' },
};

const made = new WeakMap<Evaluator, Map<string, Evaluator>>();

/**
 * The evaluator for where these facts are not known: it closes what no such fact could open. The conditions on them
 * are left out, and everything else is judged as ever.
 */
export function withoutFacts(evaluator: Evaluator, unknown: Unknown): Evaluator {
  const { configuration } = evaluator;
  if (!asksFor(evaluator, unknown)) return evaluator;
  let known = made.get(evaluator);
  if (known === undefined) made.set(evaluator, (known = new Map()));
  const key = unknown.join();
  let found = known.get(key);
  if (found === undefined) known.set(key, (found = compileEvaluator(withoutUnknown(configuration, unknown))));
  return found;
}

function withoutUnknown(configuration: Configuration, unknown: Unknown): Configuration {
  const { rules = [], tools, agentArguments } = configuration;
  const isKnown = !unknown.includes('claims');
  return {
    ...configuration,
    rules: rules.map((rule) => knownPart(rule, unknown)),
    ...(isKnown ? {} : { tools: tools.map(withoutClaims) }),
    ...(isKnown || agentArguments === undefined ? {} : { agentArguments: allWithoutClaims(agentArguments) }),
  };
}

function withoutClaims(tool: ConfiguredTool): ConfiguredTool {
  return tool.arguments === undefined ? tool : { ...tool, arguments: boundsWithoutClaims(tool.arguments) };
}

function allWithoutClaims(byTool: Readonly<Record<string, ArgumentBounds>>): Readonly<Record<string, ArgumentBounds>> {
  return Object.fromEntries(Object.entries(byTool).map(([id, bounds]) => [id, boundsWithoutClaims(bounds)]));
}

/** The bounds without what they compare with claims. */
function boundsWithoutClaims(bounds: ArgumentBounds): ArgumentBounds {
  const known = ({ oneOf, notOneOf, ...others }: ArgumentBound): ArgumentBound => ({
    ...others,
    ...(oneOf !== undefined && !('claim' in oneOf) && { oneOf }),
    ...(notOneOf !== undefined && !('claim' in notOneOf) && { notOneOf }),
  });
  return Object.fromEntries(Object.entries(bounds).map(([path, bound]) => [path, known(bound)]));
}

/** Whether some rule, or a bound, asks for one of these facts. */
export function asksFor({ configuration }: Pick<Evaluator, 'configuration'>, facts: readonly RuleFactName[]): boolean {
  const { rules = [], tools } = configuration;
  return (
    rules.some((rule) => unknownTo(rule, facts).length > 0) ||
    (facts.includes('claims') && tools.some(({ id }) => boundsAskForClaims(configuration, id)))
  );
}

/** Whether what is written of the tool, or of agents that call it, compares its arguments with claims. */
function boundsAskForClaims({ tools, agentArguments = {} }: Configuration, toolId: string): boolean {
  const ofAgents = Object.hasOwn(agentArguments, toolId) ? agentArguments[toolId] : undefined;
  return [ofAgents, tools.find(({ id }) => id === toolId)?.arguments].some(
    (one) => one !== undefined && claimsInBounds(one).length > 0,
  );
}

/**
 * What the rules about a tool ask for and is not known here, so that a run may yet be offered it or not; in the order
 * of the names.
 */
export function dependsOn(
  { configuration }: Pick<Evaluator, 'configuration'>,
  toolId: string,
  unknown: Unknown,
): readonly RuleFactName[] {
  const { rules = [] } = configuration;
  const open = new Set<RuleFactName>();
  if (unknown.includes('claims') && boundsAskForClaims(configuration, toolId)) open.add('claims');
  for (const rule of rules) {
    const names = unknownTo(rule, unknown);
    if (names.length > 0 && rule.tools.includes(toolId)) for (const name of names) open.add(name);
  }
  return ruleFactNames.filter((name) => open.has(name));
}

/**
 * A rule that may bind others alone closes nothing. A `when` may hold as soon as what is known of it does; an `unless`
 * that asks for something unknown may fail to hold.
 */
function knownPart({ name, tools, ...conditions }: AvailabilityRule, unknown: Unknown): AvailabilityRule {
  const { whom, when, unless, time, load, history, totals } = conditions;
  const isKnown = (facts: Unknown): boolean => !facts.some((fact) => unknown.includes(fact));
  if (whom !== undefined && !isKnown(ofWhom(whom))) return { name, tools };
  const bounds = conditions.arguments;
  const known = Object.entries(when ?? {}).filter(([key]) => isKnown([asked[key as keyof ContextCondition]]));
  return {
    ...{ name, tools },
    ...(whom !== undefined && { whom }),
    ...(bounds !== undefined && { arguments: isKnown(['claims']) ? bounds : boundsWithoutClaims(bounds) }),
    ...(when !== undefined && { when: Object.fromEntries(known) }),
    ...(unless !== undefined && isKnown(ofContext(unless)) && { unless }),
    ...(time !== undefined && { time }),
    ...(load !== undefined && isKnown([ofLoad(load)]) && { load }),
    ...(history !== undefined && isKnown(['history']) && { history }),
    ...(totals !== undefined && isKnown(['history']) && { totals }),
  };
}

function unknownTo(
  { whom, when, unless, load, history, totals, arguments: bounds = {} }: AvailabilityRule,
  unknown: Unknown,
): Unknown {
  const names: Unknown = [
    ...(whom === undefined ? [] : ofWhom(whom)),
    ...(claimsInBounds(bounds).length === 0 ? [] : ['claims' as const]),
    ...[when, unless].flatMap((condition) => (condition === undefined ? [] : ofContext(condition))),
    ...(load === undefined ? [] : [ofLoad(load)]),
    ...((history ?? totals) === undefined ? [] : ['history' as const]),
  ];
  return unknown.filter((fact) => names.includes(fact));
}

function ofContext(condition: ContextCondition): Unknown {
  return (Object.keys(condition) as (keyof ContextCondition)[]).map((key) => asked[key]);
}

/** Which agent calls is known wherever a request is. */
function ofWhom({ agents: _, ...whom }: Whom): Unknown {
  return ofContext(whom);
}

/** What is left of a run’s budgets is known with what the run did. */
function ofLoad({ measure }: NonNullable<AvailabilityRule['load']>): RuleFactName {
  return measure === 'run_budget_left' ? 'history' : 'load';
}
