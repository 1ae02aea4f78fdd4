import type { ListedRun, Page, RunChange } from '@sluice/client';

/** Pages of a list, as they were read one behind the other. */
interface ReadPages {
  readonly pages: readonly Page<ListedRun>[];
  readonly pageParams: readonly unknown[];
}

/** The runs of all pages, each once. A run that moved to another page while these were read stands in both. */
export function runsOf({ pages }: ReadPages): readonly ListedRun[] {
  const ids = new Set<string>();
  return pages.flatMap(({ items }) =>
    items.filter(({ request_id: id }) => {
      if (ids.has(id)) return false;
      ids.add(id);
      return true;
    }),
  );
}

/** Those of the newest that the pages do not have. */
export function newTo(read: ReadPages, newest: readonly ListedRun[]): readonly ListedRun[] {
  const ids = new Set(read.pages.flatMap(({ items }) => items.map(({ request_id: id }) => id)));
  return newest.filter(({ request_id: id }) => !ids.has(id));
}

/** What is known of runs since the list was read. */
export interface Later {
  /** The newest runs, and those that changed, as they are now, the newest first. */
  readonly runs: readonly ListedRun[];
  /** The ids of runs that the filter no longer has. */
  readonly left: ReadonlySet<string>;
}

/**
 * The pages with what is known of their runs by now, and with the new runs first where they are wanted. Gives the same
 * object where nothing differs. Null where runs are missing between the pages and the newest: then the list is read
 * again.
 */
export function withLater(read: ReadPages, { runs, left }: Later, takeNew: boolean): ReadPages | null {
  const fresh = takeNew ? newTo(read, runs) : [];
  const isEmpty = read.pages.every(({ items }) => items.length === 0);
  if (fresh.length > 0 && fresh.length === runs.length && !isEmpty) return null;
  const now = new Map(runs.map((run) => [run.request_id, run]));
  let isSame = fresh.length === 0;
  const pages = read.pages.map((page, n) => {
    const kept = page.items.filter(({ request_id: id }) => !left.has(id));
    if (kept.length < page.items.length) isSame = false;
    const items = kept.map((run) => {
      const later = now.get(run.request_id);
      if (later === undefined || JSON.stringify(later) === JSON.stringify(run)) return run;
      isSame = false;
      return later;
    });
    return { ...page, items: n === 0 ? [...fresh, ...items] : items };
  });
  return isSame ? read : { ...read, pages };
}

/** So many changed runs are kept. */
const mostKept = 300;

/** What is known with these changes. */
export function laterWith(later: Later, changes: readonly RunChange[]): Later {
  const runs = new Map(later.runs.map((run) => [run.request_id, run]));
  const left = new Set(later.left);
  for (const change of changes) {
    const id = change.type === 'run' ? change.run.request_id : change.request_id;
    if (change.type === 'run') {
      runs.set(id, change.run);
      left.delete(id);
    } else {
      runs.delete(id);
      left.add(id);
    }
  }
  const newestFirst = [...runs.values()].sort((one, other) => other.started_at - one.started_at);
  return { runs: newestFirst.slice(0, mostKept), left: new Set([...left].slice(-mostKept)) };
}
