/** A line of two texts: in both, taken away, or added; or lines that are the same and are left out. */
export type DiffLine =
  | { readonly kind: 'same' | 'removed' | 'added'; readonly text: string; readonly line: number }
  | { readonly kind: 'skipped'; readonly count: number };

/** Lines around a change that are shown. */
const context = 3;
/** More comparisons than this are not made: the texts then differ as a whole. */
const mostComparisons = 4_000_000;

/** What differs between two texts, line by line; `line` counts in the text that has it. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [was, is] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < was.length && start < is.length && was[start] === is[start]) start++;
  let end = 0;
  while (end < was.length - start && end < is.length - start && was.at(-1 - end) === is.at(-1 - end)) end++;
  const lines = [
    ...is.slice(0, start).map((text, place): Kept => ({ kind: 'same', text, line: place + 1 })),
    ...between(was.slice(start, was.length - end), is.slice(start, is.length - end), start),
    ...is
      .slice(is.length - end)
      .map((text, place): Kept => ({ kind: 'same', text, line: is.length - end + place + 1 })),
  ];
  return shortened(lines);
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

type Kept = Exclude<DiffLine, { readonly kind: 'skipped' }>;

/** By the longest sequence of lines that both have. */
function between(was: readonly string[], is: readonly string[], start: number): readonly Kept[] {
  const removed = (place: number): Kept => ({ kind: 'removed', text: was[place] ?? '', line: start + place + 1 });
  const added = (place: number): Kept => ({ kind: 'added', text: is[place] ?? '', line: start + place + 1 });
  if (was.length * is.length > mostComparisons)
    return [...was.map((_, place) => removed(place)), ...is.map((_, place) => added(place))];
  const width = is.length + 1;
  const common = new Uint32Array((was.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = was.length - 1; i >= 0; i--)
    for (let j = is.length - 1; j >= 0; j--)
      common[i * width + j] = was[i] === is[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Kept[] = [];
  let [i, j] = [0, 0];
  while (i < was.length || j < is.length) {
    if (i < was.length && j < is.length && was[i] === is[j]) {
      lines.push({ kind: 'same', text: is[j] ?? '', line: start + j + 1 });
      i++;
      j++;
    } else if (i < was.length && (j === is.length || at(i + 1, j) >= at(i, j + 1))) lines.push(removed(i++));
    else lines.push(added(j++));
  }
  return lines;
}

function shortened(lines: readonly Kept[]): readonly DiffLine[] {
  const changed = lines.flatMap(({ kind }, place) => (kind === 'same' ? [] : [place]));
  const shown = new Set(changed.flatMap((place) => range(place - context, place + context)));
  const found: DiffLine[] = [];
  let skipped = 0;
  const leave = (): void => {
    if (skipped > 0) found.push({ kind: 'skipped', count: skipped });
    skipped = 0;
  };
  for (const [place, line] of lines.entries()) {
    if (!shown.has(place)) {
      skipped++;
      continue;
    }
    leave();
    found.push(line);
  }
  leave();
  return found;
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, place) => from + place);
}
