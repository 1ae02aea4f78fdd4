import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Journal, openFile } from '@sluice/sqlite';

const named = { noun: 'ledger', code: 'ledger_unreachable' } as const;
const kind = { ...named, applicationId: 1, migrations: ['CREATE TABLE kept (name TEXT) STRICT'] };

let folder = '';
let database: DatabaseSync;
let journal: Journal;
/** Ends the oldest flush that is under way, with an error if one is given. */
let ends: ((error?: Error) => void)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-journal-'));
  database = openFile(join(folder, 'kept.db'), kind);
  journal = new Journal(database, named);
  ends = [];
  const any = await open(join(folder, 'kept.db'));
  jest
    .spyOn(Object.getPrototypeOf(any) as FileHandle, 'datasync')
    .mockImplementation(
      () => new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    );
  await any.close();
});

afterEach(async () => {
  jest.restoreAllMocks();
  await journal.close();
  database.close();
  rmSync(folder, { recursive: true });
});

const turn = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await new Promise(setImmediate);
};
const begun = async (count: number): Promise<void> => {
  while (ends.length < count) await turn();
};

describe('what was committed', () => {
  it('is on the disk when the flush that began behind it has ended; one flush serves all who came meanwhile', async () => {
    const done: string[] = [];
    const ask = (name: string): Promise<void> => journal.flush().then(() => void done.push(name));
    const asked = [ask('first'), ask('second'), ask('third')];
    await begun(1);
    await turn();
    expect([done, ends.length]).toEqual([[], 1]);
    ends[0]?.();
    await begun(2);
    expect(done).toEqual(['first']);
    ends[1]?.();
    await Promise.all(asked);
    expect([done, ends.length]).toEqual([['first', 'second', 'third'], 2]);
  });

  it('is refused to all who asked if the disk fails, with what to look at, and the next flush is another', async () => {
    const refused = expect(journal.flush()).rejects.toMatchObject({
      code: 'ledger_unreachable',
      retryable: true,
      message: 'The ledger could not be put on the disk: EIO. See that the disk works.',
    });
    await begun(1);
    ends[0]?.(new Error('EIO'));
    await refused;
    const again = journal.flush();
    await begun(2);
    ends[1]?.();
    await again;
  });

  it('opens the file again at the next flush where that failed', async () => {
    const elsewhere = jest.spyOn(database, 'location').mockReturnValue(join(folder, 'none', 'kept.db'));
    const lost = new Journal(database, named);
    elsewhere.mockRestore();
    await expect(lost.flush()).rejects.toThrow('ENOENT');
    mkdirSync(join(folder, 'none'));
    writeFileSync(join(folder, 'none', 'kept.db-wal'), '');
    const again = lost.flush();
    await begun(1);
    ends[0]?.();
    await again;
    await lost.close();
  });

  it('is waited for before the file is closed', async () => {
    const asked = journal.flush();
    await begun(1);
    let closed = false;
    const closing = journal.close().then(() => (closed = true));
    await turn();
    expect(closed).toBe(false);
    ends[0]?.();
    await Promise.all([asked, closing]);
  });
});
