/** One row of docs/requirements.md. */
export interface Requirement {
  readonly id: string;
  readonly words: string;
  readonly shown: Shown;
}

export type Shown =
  | {
      readonly by: 'test';
      readonly file: string;
      /** Part of a title that does not name the id. */ readonly title: string | null;
    }
  | { readonly by: 'requirement'; readonly id: string }
  | { readonly by: 'benchmark'; readonly section: string }
  | { readonly by: 'nothing yet' }
  | { readonly by: 'decision' };

/**
 * The rows of the page's tables, and the ids of its list of what no test shows. Throws on a row whose last cell it
 * cannot read.
 */
export function readRequirements(page: string): {
  readonly requirements: readonly Requirement[];
  readonly notShown: readonly string[];
} {
  const [tables = '', list = ''] = page.split(/^## Not yet shown$/m);
  const rows = (text: string): readonly (readonly string[])[] =>
    text
      .split('\n')
      .filter((line) => /^\| [A-Z]+-/.test(line))
      .map((line) => line.slice(2, -2).split(' | '));
  return {
    requirements: rows(tables).map(([id = '', words = '', cell = '']) => ({ id, words, shown: shownBy(id, cell) })),
    notShown: rows(list).map(([id = '']) => id),
  };
}

function shownBy(id: string, cell: string): Shown {
  if (cell === 'declined') return { by: 'decision' };
  if (cell === 'not yet shown') return { by: 'nothing yet' };
  const [, other] = /^as (\S+)$/.exec(cell) ?? [];
  if (other !== undefined) return { by: 'requirement', id: other };
  const [, section] = /^\[docs\/benchmarks\.md\]\(benchmarks\.md#([\w-]+)\)$/.exec(cell) ?? [];
  if (section !== undefined) return { by: 'benchmark', section };
  const [, file, link, title] = /^\[([^\]]+)\]\(\.\.\/([^)]+)\)(?: “([^”]+)”)?$/.exec(cell) ?? [];
  if (file !== undefined && file === link) return { by: 'test', file, title: title ?? null };
  throw new Error(`docs/requirements.md, ${id}: “${cell}” says nowhere that a test shows it.`);
}
