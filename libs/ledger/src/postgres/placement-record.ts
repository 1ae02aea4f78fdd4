import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Fault } from '@sluice/core';
import type { Clock } from '@sluice/core';
import type { LedgerSpreading } from '../documented.js';
import type { LedgerDatabase } from './claim-store.js';
import { refusal, unreachable } from './database-error.js';
import { firstDatabase, livingOf } from './placement.js';
import type { FormerPlacement, Placement } from './placement.js';

interface Row {
  readonly ledger: string;
  readonly name: string;
  /** Of the fence. It is ahead of the record’s while databases are being added. */
  readonly version: number;
  /** The record, as JSON; it counts in the first database alone. */
  readonly databases: string;
}

interface Parts {
  readonly databases: readonly [LedgerDatabase, ...LedgerDatabase[]];
  readonly schema: string;
  readonly clock: Clock;
}

/** Any number, the same in every version: a process that adds databases to a ledger holds it. */
const spreadLock = 7_319_640_232;

/**
 * Which databases hold claims: a record in the first one, and in each a fence, the version of the placement by which
 * claims are taken there. Each database knows its name and its ledger, so that none is taken for another, and one that
 * was emptied is found.
 */
export class PlacementRecord implements LedgerSpreading {
  private readonly table: string;
  private readonly first: LedgerDatabase;

  constructor(private readonly parts: Parts) {
    this.table = `${pg.escapeIdentifier(parts.schema)}.sluice_placement`;
    this.first = parts.databases[0];
  }

  /** Makes it where it is not there: then the first database has all claims. */
  async create(): Promise<void> {
    const only: Placement = { version: 1, current: [firstDatabase], former: [] };
    const text = `insert into ${this.table} values (1, $1, $2, 1, $3) on conflict do nothing`;
    await this.ask(this.first, text, [randomUUID(), firstDatabase, JSON.stringify(only)]);
  }

  async read(): Promise<Placement> {
    const row = await this.firstRow();
    const placement = JSON.parse(row.databases) as Placement;
    const now = this.parts.clock.now();
    const living = livingOf(placement.former, now);
    const names = new Set([...placement.current, ...living.flatMap((former) => former.names)]);
    const absent = [...names].filter((name) => this.parts.databases.every((database) => database.name !== name));
    if (absent.length > 0) throw notNamed(absent);
    await Promise.all(
      this.parts.databases.filter(({ name }) => names.has(name)).map((database) => this.requireOwn(database, row)),
    );
    return placement;
  }

  async list(): Promise<readonly { readonly name: string; readonly holdsClaims: boolean }[]> {
    const { current } = await this.read();
    return this.parts.databases.map(({ name }) => ({ name, holdsClaims: current.includes(name) }));
  }

  /**
   * Fences all databases off, so that no claim is taken by the former placement any more and all that were are seen,
   * and then writes the new one, which is the moment from which it is in force. In between claims wait. Run again, it
   * goes on where it was interrupted.
   */
  async spread(): Promise<readonly string[]> {
    const client = await this.first.pool.connect().catch((error: unknown) => {
      throw unreachable(this.first.place, error);
    });
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock($1)', [spreadLock]);
      return await this.add();
    } catch (error) {
      throw error instanceof Fault ? error : unreachable(this.first.place, error);
    } finally {
      // Its end takes the lock along.
      client.release(true);
    }
  }

  private async add(): Promise<readonly string[]> {
    const placement = await this.read();
    const { ledger, version: fence } = await this.firstRow();
    const added = this.parts.databases.filter(({ name }) => !placement.current.includes(name));
    if (added.length === 0 && fence === placement.version) return [];
    const version = placement.version + 1;
    for (const database of added) await this.join(database, ledger, version);
    const former = this.parts.databases.filter(({ name }) => placement.current.includes(name));
    // The first one last: its record is what counts.
    let until = 0;
    for (const database of [...former].reverse()) until = Math.max(until, await this.fenceOff(database, version));
    const now = this.parts.clock.now();
    const next: Placement = {
      version,
      current: [...placement.current, ...added.map(({ name }) => name)],
      former: [
        ...livingOf(placement.former, now),
        ...(until > 0 ? [{ names: placement.current, until } satisfies FormerPlacement] : []),
      ],
    };
    await this.ask(this.first, `update ${this.table} set databases = $1 where one = 1`, [JSON.stringify(next)]);
    return added.map(({ name }) => name);
  }

  /** The database belongs to this ledger from now on. It has no claims yet, unless an interrupted run added it. */
  private async join(database: LedgerDatabase, ledger: string, version: number): Promise<void> {
    const there = await this.row(database);
    if (there !== undefined && (there.ledger !== ledger || there.name !== database.name))
      throw belongsElsewhere(database);
    if ((await this.lastExpiry(database)) > 0)
      throw refusal(database.place, 'holds claims of another ledger. Name an empty one.');
    await this.ask(
      database,
      `insert into ${this.table} values (1, $1, $2, $3, '') on conflict (one) do update set version = excluded.version`,
      [ledger, database.name, version],
    );
  }

  /** When the last claim that is there expires; 0 if there is none. */
  private async fenceOff(database: LedgerDatabase, version: number): Promise<number> {
    // Claims that hold the row’s lock do not keep it from being written, and those that begin then are refused.
    await this.ask(database, `update ${this.table} set version = $1 where one = 1`, [version]);
    await this.ask(database, `select from ${this.table} where one = 1 for update`);
    return this.lastExpiry(database);
  }

  private async lastExpiry(database: LedgerDatabase): Promise<number> {
    const claims = `${pg.escapeIdentifier(this.parts.schema)}.sluice_claims`;
    const text = `select expires_at::text as at from ${claims} order by expires_at desc limit 1`;
    return Number((await this.ask<{ at: string }>(database, text)).rows[0]?.at ?? 0);
  }

  private async requireOwn(database: LedgerDatabase, { ledger }: Row): Promise<void> {
    const there = await this.row(database);
    if (there === undefined)
      throw refusal(
        database.place,
        'is empty, though claims of this ledger are kept in it: it was emptied, or is another one than before. Put it back.',
      );
    if (there.ledger !== ledger || there.name !== database.name) throw belongsElsewhere(database);
  }

  private async firstRow(): Promise<Row> {
    const row = await this.row(this.first);
    if (row === undefined)
      throw refusal(this.first.place, 'has lost the record of where claims are. Put the database back.');
    if (row.name !== firstDatabase) throw belongsElsewhere(this.first);
    return row;
  }

  private async row(database: LedgerDatabase): Promise<Row | undefined> {
    const text = `select ledger, name, version, databases from ${this.table} where one = 1`;
    return (await this.ask<Row>(database, text)).rows[0];
  }

  private async ask<R extends pg.QueryResultRow>(
    { pool, place }: LedgerDatabase,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<R>> {
    try {
      return await pool.query<R>(text, [...values]);
    } catch (error) {
      throw unreachable(place, error);
    }
  }
}

function notNamed(names: readonly string[]): Fault {
  const message = `Claims of this ledger are in databases that SLUICE_LEDGER does not name: ${names.join(', ')}. Name them; a database that holds claims cannot be taken out.`;
  return new Fault('ledger_unreachable', message, false);
}

function belongsElsewhere({ name, place }: LedgerDatabase): Fault {
  return refusal(
    place,
    `is not the database ${name} of this ledger: it is another one of it, or belongs to another ledger. Correct the addresses in DATABASE_URL and SLUICE_LEDGER.`,
  );
}
