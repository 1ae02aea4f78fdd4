/** The group of tools and requests that name none. */
export const defaultGroup = 'default';

/** The state of a request that names none: a state name like any other. */
export const undefinedState = 'undefined';

/** Every group in a request's `group`, every state in a tool's `available_in_states`; nowhere else a wildcard. */
export const wildcard = '*';

export const noNames: readonly string[] = Object.freeze([]);
const defaultGroups: readonly string[] = Object.freeze([defaultGroup]);

/** Up to this many names, comparing each with each is cheaper than a set. */
const fewNames = 16;

/**
 * The groups a request asks for: absent or null means `["default"]`, `[]` stays empty, repeats count once, the order
 * is kept. The list is frozen and is never the one that was given.
 */
export function normaliseGroups(group: readonly string[] | null | undefined): readonly string[] {
  if (group === null || group === undefined) return defaultGroups;
  if (group.length === 0) return noNames;
  return Object.freeze(hasRepeats(group) ? [...new Set(group)] : group.slice());
}

/** The state a request is in: absent, null or empty means `undefined`. */
export function normaliseState(state: string | null | undefined): string {
  return state === null || state === undefined || state === '' ? undefinedState : state;
}

function hasRepeats(names: readonly string[]): boolean {
  if (names.length > fewNames) return true;
  for (let i = 1; i < names.length; i++) {
    for (let j = 0; j < i; j++) if (names[i] === names[j]) return true;
  }
  return false;
}
