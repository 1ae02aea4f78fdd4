import { quote } from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/** Characters of an argument’s name that model providers take. */
const mostCharacters = 64;

/** A name for an argument that model providers take and no other argument has. */
export function argumentFor(name: string, taken: Readonly<Record<string, JsonValue>>, more: string): string {
  const plain =
    name
      .replace(/\[\]$/, '')
      .replace(/[^A-Za-z0-9_.-]+/g, '_')
      .slice(0, mostCharacters) || more;
  for (let at = 0; ; at++) {
    const one = at === 0 ? plain : `${plain.slice(0, mostCharacters - 16)}_${more}${at === 1 ? '' : String(at)}`;
    if (!Object.hasOwn(taken, one)) return one;
  }
}

/** What a parameter is called in a sentence. */
export function parameterShown(place: string, name: string): string {
  return `the ${place === '' ? '' : `${place} `}parameter ${quote(name.slice(0, 100))}`;
}
