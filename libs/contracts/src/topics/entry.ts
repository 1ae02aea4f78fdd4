import type { Principal, RecordTypes } from '@sluice/records';
import type { Handler, Role } from './roles.js';

export type RecordName = keyof RecordTypes;

/** A record of a type where it stands on the log. */
export interface LoggedRecord<R> {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly record: R;
}

/** The run and the session that a record is of. */
export interface RunIds {
  readonly requestId: string;
  readonly sessionId: string;
}

/** An entry of the audit, for docs/audit.md. */
export interface EntryKind {
  /** Of what it tells; the record, where that is left out. */
  readonly of?: string;
  readonly with: string;
  /** Whether callers see it in the lists of their tenant. */
  readonly listed: boolean;
}

/** Who reads or writes a topic; the text says what for, where that is not plain. */
type Who = Readonly<Partial<Record<Role, string>>>;

/**
 * All that is said of a topic. Access rights, retention, the lists of topics, the audit, `sluice tail` and tables of
 * the docs follow it.
 */
export interface TopicEntry<R extends RecordName> {
  /** What its records are, after their name, where that needs a word. */
  readonly about?: string;
  readonly writers: Who;
  readonly readers: Who;
  /** The service that takes its records by its group, and ends the run of one that it cannot process; null for none. */
  readonly handledBy: Handler | null;
  /** Whether its records come with a credential, which that service verifies. */
  readonly hasCredential?: true;
  /**
   * `run`: it has something that stays of a run. `story`: what tells it, from its first Toolset to its end. Null:
   * neither.
   */
  readonly part: 'run' | 'story' | null;
  /**
   * Where in a run it stands, for records of the same millisecond; 0 for beside it. Lists hold this number: never
   * change one.
   */
  readonly stage: number;
  /** `setting`: as long as SLUICE_RETENTION_HOURS says. */
  readonly kept: 'setting' | 'hour' | 'for ever';
  /** The audit’s entries for it, by kind; null where it has none. */
  readonly entries: Readonly<Record<string, EntryKind>> | null;
  /**
   * Whether filter, executor, agent or who configures signs its records; else what holds them, for docs/security.md.
   */
  readonly held: 'signed' | { readonly by: string };
  /** For docs/operations.md: who needs its records, and what is gone with them. */
  readonly need: string;
  /** For docs/security.md: what of a person is in it; null for nothing. */
  readonly personal: string | null;
  /** Null for a record of no run. */
  readonly ids: (message: LoggedRecord<RecordTypes[R]>) => RunIds | null;
  /** For whom the run is; null where the record says that this is not known, undefined where it does not say. */
  readonly principal?: (record: RecordTypes[R]) => Principal | null | undefined;
  /** The tenant of the run; null where the record does not say. */
  readonly tenant?: (record: RecordTypes[R]) => string | null;
  /** What a record says in a few words, for `sluice tail`. */
  readonly gist: (record: RecordTypes[R]) => string;
}

/** A row of the list of topics: `record` is the Avro record’s name in schemas/. */
export function row<R extends RecordName, const E extends TopicEntry<R>>(
  record: R,
  entry: E,
): E & { readonly record: R } {
  return { record, ...entry };
}

export const ofRun = ({ record }: { readonly record: RunIds }): RunIds | null =>
  record.requestId === '' ? null : { requestId: record.requestId, sessionId: record.sessionId };
export const ofNone = (): null => null;

interface OnTheLoop {
  readonly run: { readonly principal: Principal | null };
}

/** What records of the loop say of their run. */
export const onTheLoop = {
  ids: ofRun,
  principal: ({ run }: OnTheLoop) => run.principal ?? undefined,
  tenant: ({ run }: OnTheLoop) => run.principal?.tenantId ?? null,
};
