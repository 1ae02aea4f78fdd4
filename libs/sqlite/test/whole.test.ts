import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openFile } from '@sluice/sqlite';
import type { FileKind } from '@sluice/sqlite';
import type { DatabaseSync } from 'node:sqlite';

const kind: FileKind = {
  noun: 'ledger',
  code: 'ledger_unreachable',
  applicationId: 7,
  migrations: ['CREATE TABLE lines (line TEXT)'],
};
const many = `INSERT INTO lines SELECT hex(randomblob(500)) FROM generate_series`.replace(
  'generate_series',
  '(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i FROM n)',
);

describe('a file whose end is missing', () => {
  let folder: string;
  let file: string;
  let opened: DatabaseSync[];
  const open = (at = file, of = kind): DatabaseSync => {
    const database = openFile(at, of);
    opened.push(database);
    return database;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-whole-'));
    file = join(folder, 'ledger.sqlite');
    opened = [];
  });
  afterEach(() => {
    for (const database of opened) if (database.isOpen) database.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['half', 0.5],
    ['all but a page', 0.99],
    ['no more than the header', 0.001],
  ])('is refused at once where it has %s', (_, part) => {
    const database = open();
    database.exec(many);
    database.close();
    const whole = statSync(file).size;
    truncateSync(file, Math.max(200, Math.floor(whole * part)));
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: 'ledger_unreachable',
        retryable: false,
        message: expect.stringMatching(
          new RegExp(
            `^The ledger .* cannot be used: it has \\d+ of its ${whole} bytes, so its end is missing. Put a whole copy`,
          ),
        ),
      }),
    );
    expect(() => open(file, { ...kind, whatToDo: 'Remove it.' })).toThrow(/its end is missing\. Remove it\.$/);
  });

  it('is taken as it is where a killed process left the rest in the log beside it', () => {
    const database = open();
    database.exec(many);
    // What a process that is killed during a checkpoint leaves: the first page names pages that are only in the log
    // beside the file.
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    const copy = join(folder, 'copy.sqlite');
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    truncateSync(copy, Math.floor(statSync(file).size / 2));
    expect(open(copy).prepare('SELECT count(*) AS lines FROM lines').get()).toEqual({ lines: 200 });
    expect(open(copy).prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  it('is refused where the log beside it holds less than is missing', () => {
    const database = open();
    database.exec(many);
    database.close();
    truncateSync(file, Math.floor(statSync(file).size / 2));
    writeFileSync(`${file}-wal`, Buffer.alloc(3 * 4_120));
    expect(() => open()).toThrow(/its end is missing/);
  });

  it('is not what an empty file is, nor a whole one', () => {
    writeFileSync(file, '');
    open().exec(many);
    open();
    expect(existsSync(`${file}-wal`)).toBe(true);
  });
});
