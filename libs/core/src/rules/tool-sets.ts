/** A set of tools as bits: bit `i % 32` of word `i / 32` is the tool at place `i` of the configuration. */
export type ToolSet = Int32Array;

export function newToolSet(tools: number): ToolSet {
  return new Int32Array((tools + 31) >>> 5);
}

export function hasTool(set: ToolSet, tool: number): boolean {
  return ((set[tool >>> 5] as number) & (1 << (tool & 31))) !== 0;
}

export function addTool(set: ToolSet, tool: number): void {
  set[tool >>> 5] = (set[tool >>> 5] as number) | (1 << (tool & 31));
}

export function uniteInto(target: ToolSet, more: ToolSet): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] as number) | (more[i] as number);
}

/** The keys of one word's tools, appended; `place` is that of the word's first tool. */
export function appendKeys(list: string[], keys: readonly string[], word: number, place: number): void {
  for (let rest = word; rest !== 0; rest &= rest - 1) list.push(keys[place + 31 - Math.clz32(rest & -rest)] as string);
}

/**
 * The tools that carry each name. A set of bits is made when its name is first asked for: many names are never
 * requested.
 */
export class ToolsByName {
  private readonly numbers = new Map<string, number>();
  private readonly _members: number[][] = [];
  private readonly sets: (ToolSet | undefined)[] = [];

  constructor(private readonly tools: number) {}

  /** To be called in configuration order; a name repeated for the same tool counts once. */
  add(name: string, tool: number): void {
    const number = this.numbers.get(name);
    if (number === undefined) {
      this.numbers.set(name, this._members.length);
      this._members.push([tool]);
      return;
    }
    const members = this._members[number] as number[];
    if (members[members.length - 1] !== tool) members.push(tool);
  }

  /** The name's number, counted from 0 in the order of first use; undefined for a name no tool carries. */
  number(name: string): number | undefined {
    return this.numbers.get(name);
  }

  /** In configuration order. */
  members(number: number): readonly number[] {
    return this._members[number] as readonly number[];
  }

  set(number: number): ToolSet {
    return this.sets[number] ?? (this.sets[number] = this.build(number));
  }

  names(): readonly string[] {
    return [...this.numbers.keys()];
  }

  private build(number: number): ToolSet {
    const set = newToolSet(this.tools);
    for (const tool of this.members(number)) addTool(set, tool);
    return set;
  }
}
