import { nearMiss } from '../suggest.js';
import { quote } from '../quote.js';
import { normaliseGroups, normaliseState } from './defaults.js';
import type { Evaluator } from './evaluate.js';
import { groupNames, knowsState, stateNames } from './listing.js';

/** Something about a request that is legal and probably a mistake. */
export interface RequestWarning {
  readonly code: 'unknown_group' | 'unknown_state';
  readonly name: string;
  /** The name that is probably meant; null where none is near. */
  readonly suggestion: string | null;
  readonly message: string;
}

/** A request may name thousands of groups. */
const mostWarnings = 10;

/**
 * The groups of a request that the configuration does not know, and its state where no tool of the caller names it.
 * Nothing is suggested that the caller may not ask for, and a state of tools beyond its groups is as unknown as one
 * that there is not.
 */
export function requestWarnings(
  evaluator: Evaluator,
  permitted: readonly string[],
  asked: { readonly group: readonly string[] | null; readonly state: string | null },
): readonly RequestWarning[] {
  const { knownGroups } = evaluator.rules;
  const unknown = normaliseGroups(asked.group).filter((name) => !knownGroups.has(name));
  const groups = unknown.length === 0 ? [] : groupNames(evaluator, permitted);
  const warnings = unknown.slice(0, mostWarnings).map((name): RequestWarning => {
    const found = `No tool is in the group ${quote(name)}, so it matches nothing.`;
    return warning('unknown_group', name, found, groups);
  });
  const state = normaliseState(asked.state);
  if (knowsState(evaluator, permitted, state)) return warnings;
  const found = `No tool that this caller may use names the state ${quote(state)}, so only those of every state are available in it.`;
  return [...warnings, warning('unknown_state', state, found, stateNames(evaluator, permitted))];
}

function warning(code: RequestWarning['code'], name: string, found: string, known: readonly string[]): RequestWarning {
  const suggestion = nearMiss(name, known) ?? null;
  const message = suggestion === null ? found : `${found} If ${quote(suggestion)} is meant, write that.`;
  return { code, name, suggestion, message };
}
