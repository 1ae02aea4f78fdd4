import { storedKey as keyAsStored } from '../stored-key.js';

/** The key as the tables of SQLite have it, whose indexes take keys of any length. */
export function storedKey(key: string): string {
  return keyAsStored(key, Infinity);
}
