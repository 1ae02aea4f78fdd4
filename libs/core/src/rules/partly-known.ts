import type { AvailabilityRule, ContextCondition } from '../availability/types.js';
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
  const { rules = [] } = configuration;
  if (!asksFor(evaluator, unknown)) return evaluator;
  let known = made.get(evaluator);
  if (known === undefined) made.set(evaluator, (known = new Map()));
  const key = unknown.join();
  let found = known.get(key);
  if (found === undefined)
    known.set(
      key,
      (found = compileEvaluator({ ...configuration, rules: rules.map((rule) => knownPart(rule, unknown)) })),
    );
  return found;
}

/** Whether some rule asks for one of these facts. */
export function asksFor(
  { configuration: { rules = [] } }: Pick<Evaluator, 'configuration'>,
  facts: readonly RuleFactName[],
): boolean {
  return rules.some((rule) => unknownTo(rule, facts).length > 0);
}

/**
 * What the rules about a tool ask for and is not known here, so that a run may yet be offered it or not; in the order
 * of the names.
 */
export function dependsOn(
  { configuration: { rules = [] } }: Pick<Evaluator, 'configuration'>,
  toolId: string,
  unknown: Unknown,
): readonly RuleFactName[] {
  const open = new Set<RuleFactName>();
  for (const rule of rules) {
    const names = unknownTo(rule, unknown);
    if (names.length > 0 && rule.tools.includes(toolId)) for (const name of names) open.add(name);
  }
  return ruleFactNames.filter((name) => open.has(name));
}

/**
 * A `when` may hold as soon as what is known of it does; an `unless` that asks for something unknown may fail to
 * hold.
 */
function knownPart({ name, tools, ...conditions }: AvailabilityRule, unknown: Unknown): AvailabilityRule {
  const { when, unless, time, load, history } = conditions;
  const isKnown = (facts: Unknown): boolean => !facts.some((fact) => unknown.includes(fact));
  const known = Object.entries(when ?? {}).filter(([key]) => isKnown([asked[key as keyof ContextCondition]]));
  return {
    ...{ name, tools },
    ...(when !== undefined && { when: Object.fromEntries(known) }),
    ...(unless !== undefined && isKnown(ofContext(unless)) && { unless }),
    ...(time !== undefined && { time }),
    ...(load !== undefined && isKnown([ofLoad(load)]) && { load }),
    ...(history !== undefined && isKnown(['history']) && { history }),
  };
}

function unknownTo({ when, unless, load, history }: AvailabilityRule, unknown: Unknown): Unknown {
  const names = [
    ...[when, unless].flatMap((condition) => (condition === undefined ? [] : ofContext(condition))),
    ...(load === undefined ? [] : [ofLoad(load)]),
    ...(history === undefined ? [] : ['history' as const]),
  ];
  return unknown.filter((fact) => names.includes(fact));
}

function ofContext(condition: ContextCondition): Unknown {
  return (Object.keys(condition) as (keyof ContextCondition)[]).map((key) => asked[key]);
}

/** What is left of a run’s budgets is known with what the run did. */
function ofLoad({ measure }: NonNullable<AvailabilityRule['load']>): RuleFactName {
  return measure === 'run_budget_left' ? 'history' : 'load';
}
