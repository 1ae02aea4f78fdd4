import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { all, request } from '../contract/harness.js';
import { inChild } from '../process/child.js';
import { allTopics, topicEntry } from '@sluice/contracts';
import { inFolder, openOn } from './on-file.js';

describe('the log’s file', () => {
  it('is made with its folder, and found again', () =>
    inFolder(async (_, folder) => {
      const file = join(folder, 'deep', 'down', 'log.db');
      const first = await openOn(file);
      await first.publish([request('s', 'kept')]);
      await first.close();
      const second = await openOn(file);
      expect((await all(second, 'agent.requests')).map(({ record }) => record.question)).toEqual(['kept']);
      await second.close();
    }));

  it('gives equal schemas equal numbers, in every process and for every subject', () =>
    inFolder(async (file) => {
      const [first, second] = [await openOn(file), await openOn(file)];
      await first.publish([request('s', 'a')]);
      await second.publish([request('s', 'b')]);
      await first.close();
      await second.close();
      const database = new DatabaseSync(file);
      const values = database.prepare('SELECT value FROM records ORDER BY seq').all();
      const numbers = values.map(({ value }) => Buffer.from(value as Uint8Array).readInt32BE(1));
      expect(numbers[0]).toBe(numbers[1]);
      const count = database.prepare('SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM schemas').get();
      const schemas = new Set(allTopics.map((topic) => topicEntry(topic).record));
      expect({ ...count }).toEqual({ rows: allTopics.length, ids: schemas.size });
      database.close();
    }));

  it('is refused if a newer version wrote it', () =>
    inFolder(async (file) => {
      await (await openOn(file)).close();
      const database = new DatabaseSync(file);
      database.exec('PRAGMA user_version = 99');
      database.close();
      await expect(openOn(file)).rejects.toMatchObject({
        code: 'storage',
        message: expect.stringMatching(/newer version.*99.*Update/),
      });
      expect(() => new DatabaseSync(file).exec('BEGIN EXCLUSIVE; COMMIT')).not.toThrow();
    }));

  it('is refused if it is a database of something else', () =>
    inFolder(async (file) => {
      const database = new DatabaseSync(file);
      database.exec('CREATE TABLE something (else_ TEXT)');
      database.close();
      await expect(openOn(file)).rejects.toThrow(/something else\. Choose another file/);
    }));

  it('is refused if it is no database at all', () =>
    inFolder(async (file) => {
      writeFileSync(file, 'Dear diary, '.repeat(1_000));
      await expect(openOn(file)).rejects.toThrow(new RegExp(`${file}.*not a SQLite database`));
    }));

  it('is refused if it is a folder', () =>
    inFolder(async (file) => {
      mkdirSync(file);
      await expect(openOn(file)).rejects.toThrow(new RegExp(`${file}.*cannot be opened`));
    }));

  it('is refused if its folder cannot be made', () =>
    inFolder(async (file) => {
      writeFileSync(file, '');
      await expect(openOn(join(file, 'log.db'))).rejects.toThrow(/folder cannot be made.*Choose a folder/);
    }));

  it('is refused in a read-only folder', () =>
    inFolder(async (file, folder) => {
      chmodSync(folder, 0o555);
      expect(await inChild('open', file)).toMatch(new RegExp(`^storage: .*${file}.*user may write to`));
      chmodSync(folder, 0o755);
    }));

  it('is refused if it is read-only itself', () =>
    inFolder(async (file) => {
      await (await openOn(file)).close();
      chmodSync(file, 0o444);
      chmodSync(dirname(file), 0o777);
      expect(await inChild('open', file)).toMatch(new RegExp(`^storage: .*${file}.*read-only`));
    }));
});
