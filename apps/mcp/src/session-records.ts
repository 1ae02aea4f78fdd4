import { setTimeout as delay } from 'node:timers/promises';
import type { LoggingLevel } from '@modelcontextprotocol/server';
import { Fault } from '@sluice/core';
import type { JsonObject, Principal } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';
import { sessionKey } from '@sluice/mcp';
import { changeValue, keptValue, prolong } from './kept-values.js';
import type { Keeping } from './kept-values.js';
import { sessionKeptMs, stateKey } from './session-states.js';

/** Open sessions of one caller and of one tenant, at most. */
const mostOfCaller = 100;
const mostOfTenant = 10_000;
/** Its use is noted so often, in milliseconds: not with each request. */
const notedMs = 5 * 60_000;
/** How long a request waits to hear which session it is of, in milliseconds. */
const patienceMs = 3_000;

/** What a session is, for whichever replica serves its next request. */
interface SessionRecord {
  /** What its client said with `initialize`, with the revision that was agreed on. */
  readonly begun: JsonObject;
  readonly revision: string;
  /** From which level on the client wants log messages; null: none. */
  readonly level: LoggingLevel | null;
}

/** A session that is open, and its caller’s. */
export interface OpenSession extends SessionRecord {
  readonly id: string;
  /** Names the session with whose it is. */
  readonly key: string;
  readonly principal: Principal;
}

/** The sessions of the older era, in the ledger’s database: no process has to be the one that began it. */
export class SessionRecords {
  private readonly keeping: Keeping;
  /** What begins now, by whose it is. */
  private readonly beginnings = new Map<string, Promise<unknown>>();

  constructor({ documents, clock }: Pick<Runtime, 'documents' | 'clock'>) {
    this.keeping = { documents, clock };
  }

  /**
   * The caller’s open session of this id; null where there is none, or it is another caller’s. Throws
   * Fault('ledger_unreachable') soon where the database is away.
   */
  async find(id: string, principal: Principal): Promise<OpenSession | null> {
    const found = await soon(keptValue<SessionRecord>(this.keeping, recordKey(id, principal)));
    if (found === null) return null;
    const session = { ...found.value, id, key: sessionKey(id, principal), principal };
    if (found.expiresAt < this.keeping.clock.now() + sessionKeptMs) void this.use(session).catch(() => undefined);
    return session;
  }

  /**
   * Begins a session, for which those of the caller that were used least recently make room: how many. Null where the
   * tenant has as many as it may have.
   */
  async begin(session: OpenSession): Promise<number | null> {
    const { principal } = session;
    const ofCaller = callerPrefix(principal);
    // One after another, or a flood would find room for each of many at a time.
    const before = this.beginnings.get(ofCaller) ?? Promise.resolve();
    const begun = before.then(() => this.make(session));
    const settled = begun.then(nothing, nothing);
    this.beginnings.set(ofCaller, settled);
    try {
      return await begun;
    } finally {
      if (this.beginnings.get(ofCaller) === settled) this.beginnings.delete(ofCaller);
    }
  }

  private async make({ id, principal, begun, revision, level }: OpenSession): Promise<number | null> {
    const { documents, clock } = this.keeping;
    const own = await soon(documents.tally(callerPrefix(principal), clock.now(), 10));
    const displaced = own.first.slice(0, Math.max(0, own.count - mostOfCaller + 1));
    for (const oldest of displaced) await this.endRecord(oldest);
    const { count } = await soon(documents.tally(tenantPrefix(principal), clock.now(), 0));
    if (count >= mostOfTenant) return null;
    const record: SessionRecord = { begun, revision, level };
    await soon(
      changeValue<SessionRecord>(this.keeping, recordKey(id, principal), sessionKeptMs + notedMs, () => record),
    );
    return displaced.length;
  }

  /** Notes that the session is in use: it, and the state that it is in, are kept from now on. */
  async use({ id, principal }: OpenSession): Promise<void> {
    await prolong(this.keeping, recordKey(id, principal), sessionKeptMs + notedMs, notedMs);
    await prolong(this.keeping, stateKey(id, principal), sessionKeptMs + notedMs, notedMs);
  }

  async keepLevel({ id, principal }: OpenSession, level: LoggingLevel): Promise<void> {
    await changeValue<SessionRecord>(this.keeping, recordKey(id, principal), sessionKeptMs + notedMs, (record) =>
      record === null ? null : { ...record, level },
    );
  }

  async end({ id, principal }: OpenSession): Promise<void> {
    await this.endRecord(recordKey(id, principal));
  }

  /** Open sessions of all tenants, of all replicas. */
  async count(): Promise<number> {
    return (await this.keeping.documents.tally(allPrefix, this.keeping.clock.now(), 0)).count;
  }

  /** What is ended expires at once, and is swept with what has expired. */
  private async endRecord(key: string): Promise<void> {
    await soon(changeValue<SessionRecord>(this.keeping, key, 0, (record) => record));
  }
}

const allPrefix = 'mcp/session/';

function tenantPrefix({ tenantId }: Principal): string {
  return `${allPrefix}${sha256(tenantId).slice(0, 32)}/`;
}

function callerPrefix(principal: Principal): string {
  return `${tenantPrefix(principal)}${sessionKey('', principal).slice(0, 32)}/`;
}

function recordKey(id: string, principal: Principal): string {
  return `${callerPrefix(principal)}${sessionKey(id, principal)}`;
}

/** The ledger itself is more patient than a client that asks over HTTP, and may ask again. */
async function soon<T>(asked: Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = delay(patienceMs, undefined, { signal: stop.signal, ref: false }).then(() => {
    throw new Fault('ledger_unreachable', 'The ledger’s database does not answer.', true);
  });
  late.catch(nothing);
  asked.catch(nothing);
  try {
    return await Promise.race([asked, late]);
  } finally {
    stop.abort();
  }
}

function nothing(): void {
  // Who asked hears of it.
}
