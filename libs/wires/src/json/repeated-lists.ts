import { mayHoldRawNumbers } from '@sluice/core';
import { itemRanges } from './scan.js';
import { JsonSpan, type KnownList } from './span.js';

/** Lists that are held at most, and characters of all of them; shorter lists are read faster than they are found. */
const mostLists = 32;
const mostCharacters = 4_000_000;
export const shortestRepeated = 1_024;

/** A list of tools that clients send again with every request, and what was read of it. */
export class RepeatedList implements KnownList {
  readonly span: JsonSpan;
  private readonly read = new Map<string, unknown>();

  private constructor(
    readonly source: string,
    value: readonly unknown[],
    places: Uint32Array,
    private _bytes: Buffer | null,
  ) {
    this.span = JsonSpan.ofList(this, value, { places, isExact: !mayHoldRawNumbers(source) });
  }

  /**
   * Null for one that is not held: too short, too long, or no list. `bytes`, and `places` where its items begin and
   * end, where they are at hand.
   */
  static of(source: string, bytes: Buffer | null = null, places: Uint32Array | null = null): RepeatedList | null {
    if (source.length < shortestRepeated || source.length > mostCharacters) return null;
    const items = places ?? itemRanges(source, 0)?.items;
    if (items === undefined) return null;
    try {
      const value = JSON.parse(source) as unknown;
      return Array.isArray(value) ? new RepeatedList(source, value, Uint32Array.from(items), bytes) : null;
    } catch {
      return null;
    }
  }

  /** Its UTF-8 bytes. */
  get bytes(): Buffer {
    return (this._bytes ??= Buffer.from(this.source));
  }

  once<T>(name: string, read: () => T): T {
    if (this.read.has(name)) return this.read.get(name) as T;
    const value = read();
    this.read.set(name, value);
    return value;
  }
}

/** The lists that came last. */
export class RepeatedLists {
  private held: RepeatedList[] = [];

  find(isIt: (list: RepeatedList) => boolean): RepeatedList | undefined {
    const found = this.held.find(isIt);
    if (found !== undefined && found !== this.held[0]) this.held = [found, ...this.held.filter((one) => one !== found)];
    return found;
  }

  hold(list: RepeatedList): void {
    let characters = 0;
    this.held = [list, ...this.held]
      .slice(0, mostLists)
      .filter(({ source: { length } }) => (characters += length) <= mostCharacters);
  }
}
