/** Lists that are held at most, and characters of all of them; shorter lists are read faster than they are found. */
const mostLists = 32;
const mostCharacters = 4_000_000;
export const shortestRepeated = 1_024;

/** A list of tools that clients send again with every request, and what was read of it. */
export class RepeatedList {
  /** Where its items begin and end, by turns; null until they are looked for. */
  places: Uint32Array | null = null;
  private readonly read = new Map<string, unknown>();

  constructor(readonly source: string) {}

  /** What a way of reading gave the first time. The name stands for the way. */
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

  /** The list that stands in a text at a place, to the character. */
  at(text: string, start: number): RepeatedList | undefined {
    const found = this.held.find(({ source }) => text.startsWith(source, start));
    if (found !== undefined && found !== this.held[0]) this.held = [found, ...this.held.filter((one) => one !== found)];
    return found;
  }

  /** Holds a list; undefined for one that is too short, or too long. */
  add(source: string): RepeatedList | undefined {
    if (source.length < shortestRepeated || source.length > mostCharacters) return undefined;
    // A part of a text would keep all of it.
    const own = Buffer.from(source).toString();
    if (own !== source) return undefined;
    const list = new RepeatedList(own);
    let characters = 0;
    this.held = [list, ...this.held]
      .slice(0, mostLists)
      .filter(({ source: { length } }) => (characters += length) <= mostCharacters);
    return list;
  }
}
