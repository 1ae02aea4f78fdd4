import { join } from './problems.js';

/** The path of a map or list that is a part of itself, as an alias in YAML can make one; null where there is none. */
export function partOfItself(file: unknown): string | null {
  const [around, looked] = [new Set<unknown>(), new Set<unknown>()];
  // Not by recursion: a file may be nested deeper than calls can be.
  const open: { readonly value: object; readonly path: string; readonly rest: [string, unknown][] }[] = [];
  const enter = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || looked.has(value)) return;
    around.add(value);
    open.push({ value, path, rest: Object.entries(value).reverse() });
  };
  enter(file, '');
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const { value, path, rest } = last;
    const next = rest.pop();
    if (next === undefined) {
      around.delete(value);
      looked.add(value);
      open.pop();
      continue;
    }
    const [key, inner] = next;
    const at = Array.isArray(value) ? `${path}[${key}]` : join(path, key);
    if (around.has(inner)) return at;
    enter(inner, at);
  }
  return null;
}
