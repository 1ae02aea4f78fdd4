import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Bytes after which a file makes room for a new one, and how many former ones stay: .1 is the newest. */
const longestFile = 64 << 20;
const formerFiles = 4;

/**
 * Lines of JSON in a file of bounded size. Each batch is appended at once to the file of that name, so that several
 * processes may share a folder.
 */
export class RecordFile {
  private written: Promise<void> = Promise.resolve();

  constructor(
    readonly path: string,
    private readonly limit = longestFile,
  ) {}

  /** Rejects with the fault of the file. Batches keep their order. */
  append(lines: readonly string[]): Promise<void> {
    const done = this.written.then(() => this.write(lines.map((line) => `${line}\n`).join('')));
    this.written = done.catch(() => undefined);
    return done;
  }

  private async write(text: string): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const size = await stat(this.path).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size + Buffer.byteLength(text) > this.limit) await this.rotate();
    // Questions and names of tools are in it: for its owner alone.
    await appendFile(this.path, text, { mode: 0o600 });
  }

  private async rotate(): Promise<void> {
    for (let at = formerFiles; at > 0; at--) {
      const from = at === 1 ? this.path : `${this.path}.${String(at - 1)}`;
      await rename(from, `${this.path}.${String(at)}`).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      });
    }
  }
}
