import { backup, DatabaseSync } from 'node:sqlite';

/** Pages that are copied between two looks at the event loop. */
const pagesAtOnce = 1_000;
/** How long another process's lock is waited for, milliseconds. Nothing else runs in a process that copies. */
const lockMs = 10_000;

/**
 * A file as it is at one moment: what other connections commit afterwards is not in it. They go on writing meanwhile,
 * and their write-ahead log grows until this is closed.
 */
export class Snapshot {
  private readonly database: DatabaseSync;

  /** Throws SQLite's error if the file cannot be read. */
  constructor(file: string) {
    this.database = new DatabaseSync(file, { readOnly: true, timeout: lockMs });
    try {
      // A read transaction begins with its first query.
      this.database.exec('BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1');
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** The value of a query's first column in its first row; undefined where there is none. */
  value(query: string): unknown {
    return Object.values(this.database.prepare(query).get() ?? {})[0];
  }

  /** The rows of a query. */
  rows(query: string): readonly Readonly<Record<string, unknown>>[] {
    return this.database.prepare(query).all();
  }

  get bytes(): number {
    return Number(this.value('PRAGMA page_count')) * Number(this.value('PRAGMA page_size'));
  }

  /**
   * Writes it to a new file. `onProgress` hears how many bytes are copied, and ends the copy by throwing. Rejects with
   * what it throws, or with SQLite's error.
   */
  async copyTo(file: string, onProgress: (bytes: number) => void): Promise<void> {
    const pageBytes = Number(this.value('PRAGMA page_size'));
    const progress = (done: { totalPages: number; remainingPages: number }): void =>
      onProgress((done.totalPages - done.remainingPages) * pageBytes);
    await backup(this.database, file, { rate: pagesAtOnce, progress });
  }

  close(): void {
    this.database.close();
  }
}
