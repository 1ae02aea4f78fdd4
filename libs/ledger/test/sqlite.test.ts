import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { openSqliteLedger } from '@sluice/ledger';
import { openDatabase } from '../src/sqlite/database.js';
import { ledgerOn } from '../src/sqlite/ledger.js';
import { ledgerContract } from './contract.js';
import { discoverySessionsContract } from './discovery-sessions.js';
import { documentsContract } from './documents-contract.js';
import { pastCallsContract } from './past-calls-contract.js';
import { asRates, ratesContract } from './rates-contract.js';

const openPair = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'));
  const file = join(folder, 'ledger.db');
  const [ledger, other] = [await openSqliteLedger({ file }), await openSqliteLedger({ file })];
  return {
    ledger,
    other,
    close: async () => {
      await ledger.close();
      await other.close();
      rmSync(folder, { recursive: true });
    },
  };
};

ledgerContract('SQLite', { open: openPair });
ratesContract('SQLite', { open: async () => asRates(await openPair()) });
documentsContract('SQLite', openPair);
discoverySessionsContract('SQLite', openPair);
pastCallsContract('SQLite', openPair);

async function inFolder(work: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'));
  try {
    await work(join(folder, 'ledger.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ask = (key: string) => ({ key, owner: 'a', now: 0, ttlMs: 1_000 });

describe('the ledger’s file', () => {
  it('keeps claims and outcomes', () =>
    inFolder(async (file) => {
      const first = await openSqliteLedger({ file });
      await first.claim(ask('k'));
      await first.settle('k', 'a', 'done');
      await first.close();
      const second = await openSqliteLedger({ file });
      expect(await second.find('k')).toMatchObject({ owner: 'a', value: 'done' });
      await second.close();
    }));

  it('is written once for all that is asked in one turn', () =>
    inFolder(async (file) => {
      const ledger = await openSqliteLedger({ file });
      const other = new DatabaseSync(file);
      const version = () => Number(other.prepare('PRAGMA data_version').get()?.['data_version']);
      const before = version();
      await Promise.all(Array.from({ length: 50 }, (_, index) => ledger.claim(ask(`k-${index}`))));
      expect(version()).toBe(before + 1);
      other.close();
      await ledger.close();
    }));

  it('answers for a claim when it is on the disk, and at once for one that need not outlive a loss of power', () =>
    inFolder(async (file) => {
      const ledger = await openSqliteLedger({ file });
      const flushing = await heldFlushes(file);
      const answered: string[] = [];
      const claims = [
        ledger.claim(ask('effect')).then(() => answered.push('effect')),
        ledger.claim({ ...ask('turn'), durability: 'processLoss' }).then(() => answered.push('turn')),
      ];
      await claims[1];
      await flushing.begun;
      // Whoever looks sees both: what is not on the disk yet goes with the machine.
      expect(await ledger.find('effect')).toMatchObject({ owner: 'a' });
      await ledger.settle('turn', 'a', 'done', 'processLoss');
      expect(answered).toEqual(['turn']);
      flushing.end();
      await Promise.all(claims);
      expect(answered).toEqual(['turn', 'effect']);
      await ledger.close();
    }));

  it('answers for what it counts before that is on the disk', () =>
    inFolder(async (file) => {
      const ledger = await openSqliteLedger({ file });
      const flushing = await heldFlushes(file);
      const answered: string[] = [];
      const claim = ledger.claim(ask('effect')).then(() => answered.push('effect'));
      await flushing.begun;
      const count = ledger.take({ key: 'k', limit: 1, windowMs: 60_000 }).then(() => answered.push('count'));
      await Promise.race([count, delay(4_000)]);
      flushing.end();
      await Promise.all([claim, count]);
      expect(answered).toEqual(['count', 'effect']);
      await ledger.close();
    }));

  it('is waited for while another process keeps it locked, and the event loop goes on', () =>
    inFolder(async (file) => {
      const ledger = await openSqliteLedger({ file });
      const other = new DatabaseSync(file);
      other.exec('BEGIN IMMEDIATE');
      let answered = false;
      const claim = ledger.claim(ask('k')).then(() => (answered = true));
      let turns = 0;
      for (const start = performance.now(); performance.now() - start < 200; turns++) await delay(1);
      expect(turns).toBeGreaterThan(5);
      expect(answered).toBe(false);
      other.exec('COMMIT');
      other.close();
      await claim;
      expect(await ledger.find('k')).toMatchObject({ owner: 'a' });
      await ledger.close();
    }));

  it('waits for room while it is full, says so, and goes on', () =>
    inFolder(async (file) => {
      const { database, ledger, logged } = fullLedger(file);
      const large = ask('x'.repeat(100_000));
      let answered = 0;
      const asked = [ledger.claim(ask('k')), ledger.claim(large)].map((claim) => claim.finally(() => answered++));
      await expect(untilRejected(() => ledger.check())).resolves.toMatchObject({
        code: 'ledger_unreachable',
        message: expect.stringMatching(/full.*Free some space/),
      });
      expect(await ledger.find('k')).toBeUndefined();
      expect(answered).toBe(0);
      expect(logged).toEqual([expect.stringMatching(/^error: The ledger .*the disk is full.*waits/)]);
      database.exec('PRAGMA max_page_count = 1000000');
      expect(await Promise.all(asked)).toMatchObject([{ owner: 'a' }, { owner: 'a' }]);
      await expect(ledger.check()).resolves.toBeUndefined();
      expect(logged.slice(1)).toEqual(['info: The ledger has room again.']);
      await ledger.close();
    }));

  it('is not kept open where its tables are not what a ledger has', () =>
    inFolder(async (file) => {
      await (await openSqliteLedger({ file })).close();
      const database = new DatabaseSync(file);
      database.exec('DROP TABLE documents');
      await expect(openSqliteLedger({ file })).rejects.toThrow('no such table');
      // The last connection to close takes the write-ahead log along.
      database.close();
      expect(existsSync(`${file}-wal`)).toBe(false);
    }));

  it('rejects what waits for room when it is closed, and nothing was claimed then', () =>
    inFolder(async (file) => {
      const { ledger } = fullLedger(file);
      const asked = ledger.claim(ask('x'.repeat(100_000)));
      const refused = expect(asked).rejects.toMatchObject({ code: 'ledger_unreachable', retryable: true });
      await untilRejected(() => ledger.check());
      await ledger.close();
      await refused;
    }));

  it.each([
    [
      'a newer version wrote it',
      /newer version.*99.*Update/,
      async (file: string) => {
        await (await openSqliteLedger({ file })).close();
        const database = new DatabaseSync(file);
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
    ],
    [
      'it is a database of something else',
      /something else/,
      async (file: string) => {
        const database = new DatabaseSync(file);
        database.exec('CREATE TABLE something (name TEXT)');
        database.close();
      },
    ],
    [
      'it is no database',
      /not a SQLite database/,
      async (file: string) => writeFileSync(file, 'Dear diary, '.repeat(1_000)),
    ],
    ['it is a folder', /cannot be opened/, async (file: string) => void mkdirSync(file)],
  ])('is refused if %s', (_, reason, prepare) =>
    inFolder(async (file) => {
      await prepare(file);
      const refused = expect(openSqliteLedger({ file })).rejects;
      await refused.toMatchObject({ code: 'ledger_unreachable', message: expect.stringMatching(reason) });
      await expect(openSqliteLedger({ file })).rejects.toThrow(file);
    }),
  );
});

describe('the ledger’s folder', () => {
  it('is to be one that can be made: else the ledger is refused for good, with what to change', () =>
    inFolder(async (file) => {
      writeFileSync(file, '');
      await expect(openSqliteLedger({ file: join(file, 'ledger.db') })).rejects.toMatchObject({
        code: 'ledger_unreachable',
        retryable: false,
        message: expect.stringMatching(/folder cannot be made.*Choose a folder/),
      });
    }));
});

/** A ledger whose file may not grow any more. */
function fullLedger(file: string) {
  const database = openDatabase(file);
  const logged: string[] = [];
  const ledger = ledgerOn(database, (level, message) => logged.push(`${level}: ${message}`));
  database.exec(`PRAGMA max_page_count = ${String(database.prepare('PRAGMA page_count').get()?.['page_count'])}`);
  return { database, ledger, logged };
}

/** Flushes of any file to the disk, which end when they are told to. */
async function heldFlushes(file: string): Promise<{ readonly begun: Promise<unknown>; end(): void }> {
  const any = await open(file);
  const [begun, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const flush = jest.spyOn(Object.getPrototypeOf(any) as FileHandle, 'datasync').mockImplementation(() => {
    begun.resolve(undefined);
    return ended.promise;
  });
  await any.close();
  return {
    begun: begun.promise,
    end: () => {
      flush.mockRestore();
      ended.resolve(undefined);
    },
  };
}

async function untilRejected(work: () => Promise<void>): Promise<unknown> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      return error;
    }
    await delay(5);
  }
}
