import { deepestJson } from './plain-json.js';

/**
 * A JavaScript text may hold half a surrogate pair; UTF-8, which every record, signature and hash is written in, has
 * no such thing. So each text is made well-formed where it enters: a half becomes U+FFFD. What is signed is then what
 * is read back.
 */

/**
 * The value with every text in it well-formed, names of members included. Returns the value itself if nothing had to
 * change. Bytes, and what is nested deeper than JSON may be (128 levels), stay as they are.
 */
export function wellFormed<T>(value: T): T {
  return inside(value, 0) as T;
}

function inside(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth >= deepestJson) return value;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item === 'string' && item.isWellFormed())) return value;
    const items = value.map((item: unknown) => inside(item, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (ArrayBuffer.isView(value)) return value;
  const names = Object.keys(value);
  const members = names.map((name): [string, unknown] => [
    name.toWellFormed(),
    inside((value as Readonly<Record<string, unknown>>)[name], depth + 1),
  ]);
  const isSame = members.every(
    ([name, member], at) => name === names[at] && Object.is(member, (value as Readonly<Record<string, unknown>>)[name]),
  );
  return isSame ? value : Object.fromEntries(members);
}

/** Quick to find, and rare: an escape of a surrogate, half of a pair or not. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;
/** Every escape of a JSON text, one after another, so that a backslash that is itself escaped begins none. */
const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u([dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/**
 * A JSON text whose value is well-formed, as `wellFormed` would make it; every other character stays. It need not be
 * valid JSON.
 */
export function wellFormedJson(text: string): string {
  const whole = text.toWellFormed();
  if (!surrogateEscape.test(whole)) return whole;
  // As the character and not as its escape: V8 may take a repeated name that is written with escapes for another one.
  return whole.replace(escapes, (escape: string, half: string | undefined) => (half === undefined ? escape : '\ufffd'));
}

/** The first UTF-16 units of a text, so many at most; a pair that the cut would halve becomes U+FFFD. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}
