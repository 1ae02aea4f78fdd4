import type { DatabaseSync } from 'node:sqlite';
import { openFile } from '@sluice/sqlite';

/** One script a version. Released scripts are never changed; a new one is added. */
const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    tenant TEXT NOT NULL,
    request_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    subject TEXT,
    question TEXT NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT NOT NULL,
    attempt TEXT,
    rank INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (tenant, request_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX runs_by_time ON runs (tenant, started_at DESC, request_id);
  CREATE INDEX runs_by_actor ON runs (tenant, actor, started_at DESC, request_id);
  CREATE INDEX runs_by_outcome ON runs (tenant, outcome, started_at DESC, request_id);
  CREATE INDEX runs_by_state ON runs (tenant, state, started_at DESC, request_id);
  CREATE INDEX runs_by_session ON runs (tenant, session_id, started_at DESC, request_id);
  CREATE INDEX runs_by_age ON runs (updated_at);
  CREATE TABLE labels (
    tenant TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    PRIMARY KEY (tenant, kind, name, started_at DESC, request_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX labels_by_run ON labels (tenant, request_id);
  CREATE TABLE steps (
    tenant TEXT NOT NULL,
    request_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    place INTEGER NOT NULL,
    step TEXT NOT NULL,
    PRIMARY KEY (tenant, request_id, iteration, place)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE positions (
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    last_offset INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
  ) STRICT, WITHOUT ROWID;
  `,
  // What was read of the topic before is read again, for the table.
  `
  CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    requested TEXT NOT NULL
  ) STRICT;
  CREATE INDEX approvals_by_time ON approvals (tenant, requested_at, approval_id) WHERE is_open = 1;
  CREATE INDEX approvals_by_expiry ON approvals (expires_at);
  DELETE FROM positions WHERE topic = 'agent.approvals';
  `,
];

/** Opens or makes the file. Throws SQLite's error if it is locked at the moment, else Fault('storage') with what to change. */
export function openDatabase(file: string): DatabaseSync {
  const database = openFile(file, { noun: 'projection', code: 'storage', applicationId: 0x534c5052, migrations });
  // It can be rebuilt from the log, so a commit need not wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}
