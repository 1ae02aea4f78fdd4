export interface Difference {
  readonly path: string;
  /** As JSON text; undefined where there was, or is, nothing. */
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/**
 * What differs between two JSON values, leaf by leaf; list items that have a `key` or an `id` are matched by it,
 * others by place.
 */
export function differences(before: unknown, after: unknown, path = ''): readonly Difference[] {
  const was = before === undefined ? undefined : JSON.stringify(before);
  const is = after === undefined ? undefined : JSON.stringify(after);
  if (was === is) return [];
  const [left, right] = [members(before), members(after)];
  if (left === null || right === null) return [{ path: path || '(all)', was, is }];
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].flatMap((name) =>
    differences(left.get(name), right.get(name), path === '' ? name : `${path}.${name}`),
  );
}

function members(value: unknown): ReadonlyMap<string, unknown> | null {
  if (Array.isArray(value)) return new Map(value.map((item: unknown, index) => [nameOf(item) ?? String(index), item]));
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}

function nameOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return null;
  const { key, id } = item as { key?: unknown; id?: unknown };
  return typeof key === 'string' ? key : typeof id === 'string' ? id : null;
}
