import { entryKinds } from '@sluice/audit';
import { allTopics, recordNames, roles, topicEntry } from '@sluice/contracts';
import type { Role } from '@sluice/contracts';

type Row = readonly [key: string, ...cells: string[]];

/**
 * The tables of the docs that follow from the list of topics, by page and by the marker that stands before each,
 * `<!-- topics: signatures -->`. Rows of a table that begin with another key are the page’s own.
 */
const tables: Readonly<Record<string, Readonly<Record<string, () => readonly Row[]>>>> = {
  'docs/lifecycle.md': {
    'who reads and writes': () =>
      allTopics.map((topic) => {
        const { about, writers, readers } = topicEntry(topic);
        return [topic, `${recordNames[topic]}${about === undefined ? '' : `: ${about}`}`, who(writers), who(readers)];
      }),
  },
  'docs/operations.md': { need: () => allTopics.map((topic) => [topic, topicEntry(topic).need]) },
  'docs/security.md': {
    'not signed': () => each(({ held }) => (held === 'signed' ? null : [held.by])),
    personal: () => each(({ personal, kept }) => (personal === null ? null : [personal, howLong[kept]])),
  },
  'docs/audit.md': { entries: () => entryKinds.map(({ kind, of, with: what }) => [kind, of, what]) },
};

const howLong = { setting: 'a week', hour: 'an hour', 'for ever': 'for ever' } as const;

export const pagesWithTables = Object.keys(tables);

/** The page with its tables as the list of topics has them. */
export function withTopicTables(page: string, text: string): string {
  const marked = Object.entries(tables[page] ?? {});
  return marked.reduce((before, [marker, rows]) => withRows(before, `<!-- topics: ${marker} -->`, rows()), text);
}

/**
 * Puts the rows in the place of those that begin with a topic, or with an entry of the audit, in the table after the
 * marker.
 */
function withRows(text: string, marker: string, rows: readonly Row[]): string {
  const lines = text.split('\n');
  const head = lines.indexOf(marker) + 2;
  if (head === 1 || !lines[head]?.startsWith('|')) throw new Error(`There is no table after ${marker}.`);
  const end = lines.findIndex((line, at) => at > head && !line.startsWith('|'));
  const others = lines.slice(head + 2, end);
  const isOwn = (line: string): boolean => !/^\| `(agent\.[a-z-]+|[a-z_]+)`(, `[^`]+`)* \|/.test(line);
  const first = others.findIndex((line) => !isOwn(line));
  const made = rows.map(([key, ...cells]) => `| \`${key}\` | ${cells.join(' | ')} |`);
  const own = others.filter(isOwn);
  const [before, after] = first === -1 ? [own, []] : [others.slice(0, first), others.slice(first).filter(isOwn)];
  return [...lines.slice(0, head + 2), ...before, ...made, ...after, ...lines.slice(end)].join('\n');
}

type Entry = ReturnType<typeof topicEntry>;

/** A row for each topic of which something is said; topics of which the same is said share one. */
function each(cellsOf: (entry: Entry) => readonly string[] | null): readonly Row[] {
  const said = Map.groupBy(allTopics, (topic) => JSON.stringify(cellsOf(topicEntry(topic))));
  said.delete('null');
  return [...said].map(([cells, those]): Row => [those.join('`, `'), ...(JSON.parse(cells) as readonly string[])]);
}

function who(named: Entry['writers']): string {
  const all = Object.entries(named) as [Role, string][];
  const hasText = all.some(([, text]) => text !== '');
  const names = all.map(([role, text]) => `${roles[role].called}${text === '' ? '' : `, ${text}`}`);
  return [...new Set(names)].join(hasText ? '; ' : ', ');
}
