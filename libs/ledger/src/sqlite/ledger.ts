import type { DatabaseSync } from 'node:sqlite';
import { Fault } from '@sluice/core';
import type { Claim, ClaimRequest, Durability } from '@sluice/core';
import type { StoredLedger } from '../documented.js';
import type { LedgerLog } from '../ledger-log.js';
import { Batch } from './batch.js';
import { openDatabase } from './database.js';
import { documentsOn } from './documents.js';
import { pastCallsOn } from './past-calls.js';
import { expired, inPortions } from './portions.js';
import { ratesOn } from './rates.js';
import { patiently } from './storage-error.js';
import { storedKey } from './stored-key.js';
import type { Belonging } from '../belonging.js';

/** Claims, documents, and calls counted per window, in one file. */
export interface SqliteLedger extends StoredLedger {
  /** Rejects with what is wrong while the ledger cannot be read or written. */
  check(): Promise<void>;
}

interface SqliteLedgerOptions {
  readonly file: string;
  readonly log?: LedgerLog;
}

/** Claims in a SQLite file of their own. Several processes may use the file. Throws Fault('ledger_unreachable'). */
export async function openSqliteLedger({ file, log }: SqliteLedgerOptions): Promise<SqliteLedger> {
  const database = await patiently(`The ledger ${file} cannot be used`, () => openDatabase(file));
  try {
    return ledgerOn(database, log);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The ledger on an open database, which it closes in the end. */
export function ledgerOn(database: DatabaseSync, log: LedgerLog = () => undefined): SqliteLedger {
  const find = database.prepare('SELECT key, owner, value, claimed_at, expires_at FROM claims WHERE key = ?');
  const put = database.prepare('INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)');
  const settle = database.prepare('UPDATE claims SET value = ? WHERE key = ? AND value IS NULL');
  const release = database.prepare('DELETE FROM claims WHERE key = ? AND owner = ? AND value IS NULL');
  const sweep = database.prepare(`DELETE FROM claims WHERE key IN (${expired('claims', 'expires_at')})`);
  const batch = new Batch(database, log);
  let closed = false;

  const inForce = (key: string): Claim | undefined => {
    const row = find.get(storedKey(key));
    if (row === undefined) return undefined;
    return {
      key,
      owner: row['owner'] as string,
      value: row['value'] as string | null,
      claimedAt: row['claimed_at'] as number,
      expiresAt: row['expires_at'] as number,
    };
  };
  const claimNow = ({ key, owner, now, ttlMs, ...request }: ClaimRequest): Claim => {
    const first = inForce(key);
    if (first !== undefined && first.expiresAt > now) return first;
    const value = request.value ?? null;
    put.run(storedKey(key), owner, value, now, now + ttlMs);
    return { key, owner, value, claimedAt: now, expiresAt: now + ttlMs };
  };
  const claimInForce = (key: string, now: number): Claim | undefined => {
    const claim = inForce(key);
    return claim !== undefined && claim.expiresAt > now ? claim : undefined;
  };
  const ask = <T>(work: () => T, durability?: Durability): Promise<T> =>
    closed ? Promise.reject(isClosed()) : batch.run(work, durability);
  const look = async <T>(work: () => T): Promise<T> => {
    if (closed) throw isClosed();
    return patiently('The ledger could not be read', work);
  };

  return {
    claim: (request) => ask(() => claimNow(request), request.durability),
    settle: async (key, owner, value, durability) => {
      const claim = await ask(() => {
        const mine = inForce(key);
        if (mine?.owner !== owner) return mine;
        settle.run(value, storedKey(key));
        return inForce(key);
      }, durability);
      // Thrown here and not inside: who lost a claim must not undo what others asked in the same transaction.
      if (claim?.owner !== owner) throw notOwned(key, owner, claim);
      return claim;
    },
    release: (key, owner) => ask(() => release.run(storedKey(key), owner).changes > 0),
    find: (key) => look(() => inForce(key)),
    check: async () => {
      await look(() => inForce('health'));
      batch.check();
    },
    ...ratesOn(database, ask),
    documents: documentsOn(database, { write: ask, read: look }),
    past: pastCallsOn(database, { write: ask, read: look, claimNow, claimInForce }),
    spreading: null,
    belonging: belongingOn(database, { write: ask, read: look }),
    sweep: (now) => inPortions(() => ask(() => sweep.run(now).changes)),
    close: async () => {
      if (closed) return;
      closed = true;
      await batch.close();
      database.close();
    },
  };
}

function notOwned(key: string, owner: string, claim: Claim | undefined): Fault {
  const why = claim === undefined ? 'it is gone' : `it is held by ${claim.owner}`;
  return new Fault('unexpected', `The outcome of ${key} cannot be written for ${owner}: ${why}.`, false);
}

function isClosed(): Fault {
  return new Fault('ledger_unreachable', 'The ledger was closed by this process.', false);
}

/** The one row that says it; `write` and `read` are the ledger’s own ways to its file. */
function belongingOn(
  database: DatabaseSync,
  ways: {
    readonly write: <T>(work: () => T) => Promise<T>;
    readonly read: <T>(work: () => T) => Promise<T>;
  },
): Belonging {
  const find = database.prepare('SELECT log FROM belonging WHERE one = 1');
  const change = database.prepare('INSERT OR REPLACE INTO belonging VALUES (1, ?)');
  const take = database.prepare(
    "INSERT INTO belonging VALUES (1, ?) ON CONFLICT DO UPDATE SET log = excluded.log WHERE log = ''",
  );
  return {
    find: () => ways.read(() => (find.get()?.['log'] as string | undefined) ?? null),
    take: (log) => ways.write(() => void take.run(log)),
    change: (log) => ways.write(() => void change.run(log)),
  };
}
