/**
 * The log's tables, one script a version: `user_version` counts those that ran. Scripts are never changed once they are
 * released; a new one is added. Within a topic, and over all topics, `seq` rises in the order of the commits.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE log (next_seq INTEGER NOT NULL) STRICT;
  INSERT INTO log VALUES (1);
  CREATE TABLE topics (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    next_offset INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    topic INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    key TEXT NOT NULL,
    headers TEXT,
    value BLOB NOT NULL
  ) STRICT;
  CREATE INDEX records_by_offset ON records (topic, offset, timestamp);
  CREATE TABLE schemas (
    subject TEXT NOT NULL,
    id INTEGER NOT NULL,
    schema TEXT NOT NULL,
    PRIMARY KEY (subject, id)
  ) STRICT;
  CREATE TABLE positions (
    consumer_group TEXT NOT NULL,
    topic INTEGER NOT NULL,
    prefix INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, topic)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE finished (
    consumer_group TEXT NOT NULL,
    topic INTEGER NOT NULL,
    first INTEGER NOT NULL,
    past INTEGER NOT NULL,
    PRIMARY KEY (consumer_group, topic, first)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leases (
    consumer_group TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    instance TEXT NOT NULL,
    process_id INTEGER,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE positions ADD COLUMN carried TEXT NOT NULL DEFAULT '';
  `,
  // Credentials of records that were handled before credentials were blanked. Without the first line their bytes
  // would stay in the file.
  `
  PRAGMA secure_delete = ON;
  UPDATE records SET headers = json_set(headers, '$.authorization', '')
  WHERE headers IS NOT NULL AND json_extract(headers, '$.authorization') <> '' AND EXISTS (
    SELECT 1 FROM positions JOIN topics ON topics.id = positions.topic
    WHERE positions.topic = records.topic AND records.offset < positions.prefix AND (
      (topics.name IN ('agent.requests', 'agent.cancellations') AND positions.consumer_group = 'filter')
      OR (topics.name = 'agent.approvals' AND positions.consumer_group = 'executor')
    )
  );
  `,
  // Which log it is, for the ledger that belongs to it.
  `
  CREATE TABLE identity (id TEXT NOT NULL) STRICT;
  INSERT INTO identity VALUES (lower(hex(randomblob(16))));
  `,
];
