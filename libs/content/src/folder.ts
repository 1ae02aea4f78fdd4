import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContentOwner, ContentRef, ContentStore } from '@sluice/core';
import type { Backend, Draft, Mark, Stored } from './backend.js';
import { codeOf, textOf, unreachable } from './faults.js';
import { isHash, isMarkName, markName, ownerKey, readMark, timeIn, writeMark } from './refs.js';
import { storeOn } from './store.js';
import type { StoreOptions } from './store.js';

/** Bytes before a file's content that hold its head, which is known only at the end. */
const headBytes = 1_024;
const pieceBytes = 65_536;
const hourMs = 3_600_000;

/** Content in a folder, which processes of one machine may share. It is made if it is not there. */
export async function openFolderContent(folder: string, options: StoreOptions): Promise<ContentStore> {
  return storeOn(await Folder.at(folder), options);
}

/**
 * `runs/` has the content, a folder a run; `due/` the marks, a folder an hour; `drafts/` what is being written. Files
 * come into place whole, by their name.
 */
class Folder implements Backend {
  private constructor(private readonly root: string) {}

  static async at(root: string): Promise<Folder> {
    const folder = new Folder(root);
    await folder.attempt(async () => {
      for (const name of ['runs', 'due', 'drafts']) await mkdir(join(root, name), { recursive: true, mode: 0o700 });
    });
    return folder;
  }

  ownKey(): Promise<Buffer> {
    return this.attempt(async () => {
      const file = join(this.root, 'key');
      const beside = this.draftFile();
      try {
        await writeFile(beside, randomBytes(32), { mode: 0o600, flush: true });
        await link(beside, file);
        await keepName(this.root);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      } finally {
        await rm(beside, { force: true });
      }
      return readFile(file);
    });
  }

  begin(): Promise<Draft> {
    return this.attempt(async () => {
      const file = this.draftFile();
      return new FileDraft(this, file, await open(file, 'wx', 0o600));
    });
  }

  find(ref: ContentRef): Promise<Stored | undefined> {
    return this.ifThere(undefined, async () => {
      const file = this.fileOf(ref);
      const head = await headIn(file);
      return { head, read: () => this.read(file) };
    });
  }

  list(owner: ContentOwner) {
    return this.ifThere([], async () => {
      const names = (await readdir(this.folderOf(owner))).filter(isHash);
      const found = await Promise.all(
        names.map((hash) =>
          this.ifThere(null, async () => [hash, await headIn(this.fileOf({ ...owner, hash }))] as const),
        ),
      );
      return found.filter((entry) => entry !== null);
    });
  }

  remove(ref: ContentRef, writtenUntil: number): Promise<void> {
    return this.ifThere(undefined, async () => {
      const file = this.fileOf(ref);
      // Set aside first: a writer may put it there again between a look and its end.
      const aside = this.draftFile();
      await rename(file, aside);
      if (writtenIn(await headIn(aside)) > writtenUntil) {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await link(aside, file).catch(ignoreExisting);
      }
      await unlink(aside);
      await rmdir(dirname(file)).catch(ignoreFilled);
    });
  }

  removeAll(owner: ContentOwner): Promise<void> {
    return this.attempt(() => rm(this.folderOf(owner), { recursive: true, force: true }));
  }

  due(now: number, most: number): Promise<readonly Mark[]> {
    return this.attempt(async () => {
      const found: Mark[] = [];
      for (const hour of await this.hours()) {
        if (Number(hour) * hourMs > now) break;
        const folder = join(this.root, 'due', hour);
        const all = await this.ifThere<readonly string[]>([], () => readdir(folder));
        const names = all.filter((name) => isMarkName(name) && timeIn(name) <= now).sort();
        for (const name of names) {
          if (found.length === most) return found;
          const mark = await this.ifThere(null, async () => readMark(await readFile(join(folder, name), 'utf8')));
          if (mark !== null) found.push(mark);
        }
      }
      return found;
    });
  }

  mark(mark: Mark): Promise<void> {
    return this.attempt(async () => {
      const file = this.markFile(mark);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const beside = this.draftFile();
      await writeFile(beside, writeMark(mark), { mode: 0o600, flush: true });
      await rename(beside, file);
      await keepName(dirname(file));
    });
  }

  unmark(mark: Mark): Promise<void> {
    return this.attempt(async () => rm(this.markFile(mark), { force: true }));
  }

  tidy(begunUntil: number): Promise<void> {
    return this.attempt(async () => {
      const folder = join(this.root, 'drafts');
      for (const name of await readdir(folder))
        await this.ifThere(undefined, async () => {
          const file = join(folder, name);
          if ((await stat(file)).mtimeMs <= begunUntil) await unlink(file);
        });
      // Marks are for times to come, so nothing is put into a folder of an hour that is long over.
      for (const hour of await this.hours())
        if ((Number(hour) + 1) * hourMs <= begunUntil) await rmdir(join(this.root, 'due', hour)).catch(ignoreFilled);
    });
  }

  check(): Promise<void> {
    return this.attempt(() => access(join(this.root, 'drafts'), constants.W_OK));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Puts a draft in place. */
  async place(draft: string, ref: ContentRef, mark: Mark): Promise<void> {
    await this.mark(mark);
    const file = this.fileOf(ref);
    for (let attempt = 1; ; attempt++) {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      try {
        await rename(draft, file);
        break;
      } catch (error) {
        // A sweep may have removed the empty folder in between.
        if (codeOf(error) !== 'ENOENT' || attempt === 3) throw error;
      }
    }
    await keepName(dirname(file));
    await keepName(dirname(dirname(file)));
  }

  /** The folders of marks, the earliest first. What else may lie there is left alone. */
  private async hours(): Promise<readonly string[]> {
    const names = await readdir(join(this.root, 'due'));
    return names.filter((name) => /^\d+$/.test(name)).sort(byNumber);
  }

  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw unreachable(`The folder of content ${this.root}`, complaint(error), error);
    }
  }

  /** As `attempt`; something else where a file or folder is not there. */
  private ifThere<T>(otherwise: T, work: () => Promise<T>): Promise<T> {
    return this.attempt(async () => {
      try {
        return await work();
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return otherwise;
        throw error;
      }
    });
  }

  private async *read(file: string): AsyncIterable<Uint8Array> {
    const handle = await this.attempt(() => open(file, 'r'));
    try {
      for (let position = headBytes; ;) {
        // A buffer for each piece, which the reader may keep.
        const from = position;
        const { bytesRead, buffer } = await this.attempt(() =>
          handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, from),
        );
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  private folderOf(owner: ContentOwner): string {
    const key = ownerKey(owner);
    return join(this.root, 'runs', key.slice(0, 2), key);
  }

  private fileOf(ref: ContentRef): string {
    return join(this.folderOf(ref), ref.hash);
  }

  private markFile(mark: Mark): string {
    return join(this.root, 'due', String(Math.floor(mark.at / hourMs)), markName(mark));
  }

  private draftFile(): string {
    return join(this.root, 'drafts', `${process.pid}-${randomBytes(12).toString('hex')}`);
  }
}

class FileDraft implements Draft {
  private position = headBytes;

  constructor(
    private readonly folder: Folder,
    private readonly file: string,
    private readonly handle: FileHandle,
  ) {}

  append(bytes: Uint8Array): Promise<void> {
    return this.folder.attempt(async () => {
      for (let written = 0; written < bytes.length;) {
        const { bytesWritten } = await this.handle.write(bytes, written, bytes.length - written, this.position);
        written += bytesWritten;
        this.position += bytesWritten;
      }
    });
  }

  finish(ref: ContentRef, head: string, _writtenAt: number, mark: Mark): Promise<void> {
    return this.folder.attempt(async () => {
      await this.handle.write(head.padEnd(headBytes), 0, 'latin1');
      await this.handle.sync();
      await this.handle.close();
      await this.folder.place(this.file, ref, mark);
    });
  }

  async abandon(): Promise<void> {
    await this.handle.close().catch(() => undefined);
    await rm(this.file, { force: true }).catch(() => undefined);
  }
}

async function headIn(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.toString('latin1', 0, bytesRead).trimEnd();
  } finally {
    await handle.close();
  }
}

function writtenIn(head: string): number {
  try {
    return (JSON.parse(head) as { readonly writtenAt: number }).writtenAt;
  } catch {
    return 0;
  }
}

/** A name outlives a loss of power once its folder is on the disk too. */
async function keepName(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function ignoreFilled(error: unknown): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) throw error;
}

function byNumber(one: string, other: string): number {
  return Number(one) - Number(other);
}

function complaint(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'has no room left: the disk or its quota is full. Free some space; the work goes on by itself.';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'cannot be read or written by this user. Let this user write there, or choose another folder.';
    case 'ENOTDIR':
    case 'EEXIST':
      return 'is no folder. Choose another one.';
    default:
      return `cannot be used: ${textOf(error)}.`;
  }
}
