import { otherLabel } from '@sluice/run';

/**
 * Label values that no configuration lists, such as who asks: the first so many of a process count under their own
 * names, what comes later under `other`, so that no caller can make series without end.
 */
export class BoundedNames {
  private readonly seen = new Set<string>();

  constructor(private readonly limit: number) {}

  /** The names as they are, or `other` for each of them if they are beyond the limit. */
  of<L extends Readonly<Record<string, string>>>(names: L): L {
    const key = JSON.stringify(names);
    if (this.seen.has(key)) return names;
    if (this.seen.size >= this.limit) {
      return Object.fromEntries(Object.keys(names).map((name) => [name, otherLabel])) as unknown as L;
    }
    this.seen.add(key);
    return names;
  }
}
