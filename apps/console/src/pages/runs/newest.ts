import type { ListedRun, Page } from '@sluice/client';

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

/**
 * The pages with what is known of their runs by now, and with the new runs first where they are wanted. Gives the same
 * object where nothing differs. Null where runs are missing between the pages and the newest: then the list is read
 * again.
 */
export function withNewest(read: ReadPages, newest: readonly ListedRun[], takeNew: boolean): ReadPages | null {
  const fresh = takeNew ? newTo(read, newest) : [];
  const isEmpty = read.pages.every(({ items }) => items.length === 0);
  if (fresh.length > 0 && fresh.length === newest.length && !isEmpty) return null;
  const now = new Map(newest.map((run) => [run.request_id, run]));
  let isSame = fresh.length === 0;
  const pages = read.pages.map((page, n) => {
    const items = page.items.map((run) => {
      const later = now.get(run.request_id);
      if (later === undefined || JSON.stringify(later) === JSON.stringify(run)) return run;
      isSame = false;
      return later;
    });
    return { ...page, items: n === 0 ? [...fresh, ...items] : items };
  });
  return isSame ? read : { ...read, pages };
}
