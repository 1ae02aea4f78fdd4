/**
 * A selection from the tools of a configuration, in its order, as lengths in turn: so many are left out, so many are
 * meant, and so on. All of a thousand tools are `[0, 1000]`, and each odd one costs two numbers.
 */
type ToolIndexes = readonly number[];

/** The selection that has these indexes of the configuration, in ascending order. */
export function toToolIndexes(indexes: readonly number[]): ToolIndexes {
  const lengths: number[] = [];
  let next = 0;
  for (const index of indexes) {
    if (index === next && lengths.length > 0) lengths[lengths.length - 1] = (lengths.at(-1) ?? 0) + 1;
    else lengths.push(index - next, 1);
    next = index + 1;
  }
  return lengths;
}

/** How many tools it has. */
export function toolIndexCount(lengths: ToolIndexes): number {
  return lengths.reduce((sum, length, turn) => (turn % 2 === 0 ? sum : sum + length), 0);
}

/** The tools that it means, of those of the configuration. Throws RangeError where there are not so many. */
export function atToolIndexes<Tool>(lengths: ToolIndexes, tools: readonly Tool[]): readonly Tool[] {
  const found: Tool[] = [];
  let next = 0;
  for (const [turn, length] of lengths.entries()) {
    if (length < 0 || next + length > tools.length)
      throw new RangeError(`Its indexes end beyond the ${tools.length} tools of the configuration.`);
    if (turn % 2 === 1) for (const tool of tools.slice(next, next + length)) found.push(tool);
    next += length;
  }
  return found;
}
