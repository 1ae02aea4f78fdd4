import type { JsonValue } from '@sluice/core';

const step = /^(?:\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\])/;

/** The members and places that a path such as `$.rows[0].name` names, or null if it is none. */
export function jsonPath(text: string): readonly (string | number)[] | null {
  if (!text.startsWith('$')) return null;
  const found: (string | number)[] = [];
  for (let rest = text.slice(1); rest !== '';) {
    const [whole, member, place, quoted] = step.exec(rest) ?? [];
    if (whole === undefined) return null;
    if (place !== undefined) found.push(Number(place));
    else found.push(member ?? (JSON.parse(`"${quoted ?? ''}"`) as string));
    rest = rest.slice(whole.length);
  }
  return found;
}

/** What stands there; undefined if nothing does. */
export function valueAt(value: JsonValue, path: readonly (string | number)[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const name of path) {
    if (Array.isArray(found)) found = typeof name === 'number' ? (found as readonly JsonValue[])[name] : undefined;
    else if (typeof found === 'object' && found !== null && typeof name === 'string' && Object.hasOwn(found, name))
      found = (found as Readonly<Record<string, JsonValue>>)[name];
    else return undefined;
  }
  return found;
}
