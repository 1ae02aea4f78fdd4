/**
 * A selection from the tools of a configuration, in its order, as lengths in turn: so many are left out, so many are
 * meant, and so on. All of a thousand tools are `[0, 1000]`, and each odd one costs two numbers.
 */
export type ToolPlaces = readonly number[];

/** The selection that has these places of the configuration, in ascending order. */
export function toToolPlaces(places: readonly number[]): ToolPlaces {
  const lengths: number[] = [];
  let next = 0;
  for (const place of places) {
    if (place === next && lengths.length > 0) lengths[lengths.length - 1] = (lengths.at(-1) ?? 0) + 1;
    else lengths.push(place - next, 1);
    next = place + 1;
  }
  return lengths;
}

/** How many tools it has. */
export function sizeOfPlaces(lengths: ToolPlaces): number {
  return lengths.reduce((sum, length, index) => (index % 2 === 0 ? sum : sum + length), 0);
}

/** The tools that it means, of those of the configuration. Throws RangeError where there are not so many. */
export function atToolPlaces<Tool>(lengths: ToolPlaces, tools: readonly Tool[]): readonly Tool[] {
  const found: Tool[] = [];
  let next = 0;
  for (const [index, length] of lengths.entries()) {
    if (length < 0 || next + length > tools.length)
      throw new RangeError(`Its places end beyond the ${tools.length} tools of the configuration.`);
    if (index % 2 === 1) for (let place = next; place < next + length; place++) found.push(tools[place] as Tool);
    next += length;
  }
  return found;
}
