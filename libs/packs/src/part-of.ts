/** UTF-8 bytes of a list in a result: well inside the 32,768 that a result may have, as JSON text may need escapes. */
const listBytes = 22_000;

interface Part<T> {
  readonly items: T[];
  /** Where the next call begins; absent at the end. */
  readonly next?: number;
}

/** As many items from `from` on as fit into a result, and at least one, at most `most`. */
export function partOf<T>(all: readonly T[], from: number, most = 200): Part<T> {
  const items: T[] = [];
  let bytes = 0;
  for (const item of all.slice(from, from + most)) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > listBytes && items.length > 0) break;
    items.push(item);
  }
  const next = from + items.length;
  return { items, ...(next < all.length ? { next } : {}) };
}
