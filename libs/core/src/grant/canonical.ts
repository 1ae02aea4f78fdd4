import { type JsonObject, isJsonObject } from '../json.js';

/** JSON text with sorted keys, without what is absent or named; lists of texts, which can be long, in one go. */
export function canonical(value: unknown, without?: ReadonlySet<string>): string {
  const pieces: string[] = [];
  write(pieces, value, without);
  return pieces.join('');
}

/** Joined in one go: a text that grows piece by piece leaves as many texts behind. */
function write(pieces: string[], value: unknown, without?: ReadonlySet<string>): void {
  // Most of a run: neither needs more than this, and so costs no more.
  if (typeof value === 'string') pieces.push(JSON.stringify(value));
  else if (Number.isFinite(value)) pieces.push(String(value));
  else if (Array.isArray(value)) writeList(pieces, value);
  else if (isJsonObject(value)) writeMembers(pieces, value, without);
  else pieces.push(JSON.stringify(value) ?? 'null');
}

function writeList(pieces: string[], items: readonly unknown[]): void {
  if (items.every((item) => typeof item === 'string')) {
    pieces.push(JSON.stringify(items));
    return;
  }
  items.forEach((item, n) => {
    pieces.push(n === 0 ? '[' : ',');
    write(pieces, item);
  });
  pieces.push(']');
}

function writeMembers(pieces: string[], value: JsonObject, without?: ReadonlySet<string>): void {
  let isFirst = true;
  for (const { name, first, later } of sortedNames(value)) {
    const member = value[name];
    if (member === null || member === undefined || without?.has(name)) continue;
    pieces.push(isFirst ? first : later);
    isFirst = false;
    write(pieces, member);
  }
  pieces.push(isFirst ? '{}' : '}');
}

interface Shape {
  readonly names: readonly string[];
  /** With what stands before its value, in the first place and in a later one. */
  readonly sorted: readonly { readonly name: string; readonly first: string; readonly later: string }[];
}

/** Records of a type have the same names each time, so that they are sorted and quoted once: by the first of them, since that finds most. */
const shapes = new Map<string, Shape>();
/** There are about ten; names that are not known before, as those of a map are, must not pile up. */
const shapesKept = 64;

function sortedNames(value: object): Shape['sorted'] {
  const names = Object.keys(value);
  const [first] = names;
  if (first === undefined) return [];
  const known = shapes.get(first);
  if (known !== undefined && isSame(known.names, names)) return known.sorted;
  const sorted = names.toSorted().map((name) => {
    const quoted = JSON.stringify(name);
    return { name, first: `{${quoted}:`, later: `,${quoted}:` };
  });
  if (shapes.size >= shapesKept) shapes.clear();
  shapes.set(first, { names, sorted });
  return sorted;
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  if (names.length !== others.length) return false;
  for (let n = 0; n < names.length; n++) if (names[n] !== others[n]) return false;
  return true;
}
