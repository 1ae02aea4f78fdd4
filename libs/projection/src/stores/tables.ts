/** Which database the tables are for. */
type Dialect = 'sqlite' | 'postgres';

/** How the dialects write what is otherwise the same. Texts are ordered by their bytes in both. */
const words = {
  sqlite: { text: 'TEXT', whole: 'INTEGER', strict: ' STRICT, WITHOUT ROWID' },
  postgres: { text: 'text COLLATE "C"', whole: 'bigint', strict: '' },
} as const;

/** The runs and how far each partition was read. */
function runs(dialect: Dialect): string {
  const { text, whole, strict } = words[dialect];
  return `
  CREATE TABLE runs (
    tenant ${text} NOT NULL,
    request_id ${text} NOT NULL,
    session_id ${text} NOT NULL,
    actor ${text} NOT NULL,
    subject ${text},
    question ${text} NOT NULL,
    state ${text} NOT NULL,
    outcome ${text} NOT NULL,
    attempt ${text},
    rank ${whole} NOT NULL,
    iterations ${whole} NOT NULL,
    input_tokens ${whole} NOT NULL,
    cached_input_tokens ${whole} NOT NULL,
    output_tokens ${whole} NOT NULL,
    started_at ${whole} NOT NULL,
    updated_at ${whole} NOT NULL,
    ended_at ${whole},
    PRIMARY KEY (tenant, request_id)
  )${strict};
  CREATE INDEX runs_by_time ON runs (tenant, started_at DESC, request_id);
  CREATE INDEX runs_by_actor ON runs (tenant, actor, started_at DESC, request_id);
  CREATE INDEX runs_by_outcome ON runs (tenant, outcome, started_at DESC, request_id);
  CREATE INDEX runs_by_state ON runs (tenant, state, started_at DESC, request_id);
  CREATE INDEX runs_by_session ON runs (tenant, session_id, started_at DESC, request_id);
  CREATE INDEX runs_by_age ON runs (updated_at);
  ${labels(dialect)}
  CREATE INDEX labels_by_run ON labels (tenant, request_id);
  CREATE TABLE steps (
    tenant ${text} NOT NULL,
    request_id ${text} NOT NULL,
    iteration ${whole} NOT NULL,
    place ${whole} NOT NULL,
    step ${text} NOT NULL,
    PRIMARY KEY (tenant, request_id, iteration, place)
  )${strict};
  CREATE TABLE positions (
    topic ${text} NOT NULL,
    partition ${whole} NOT NULL,
    last_offset ${whole} NOT NULL,
    PRIMARY KEY (topic, partition)
  )${strict};
  `;
}

function labels(dialect: Dialect): string {
  const { text, whole, strict } = words[dialect];
  const columns = `
    tenant ${text} NOT NULL,
    kind ${text} NOT NULL,
    name ${text} NOT NULL,
    started_at ${whole} NOT NULL,
    request_id ${text} NOT NULL`;
  const key = '(tenant, kind, name, started_at DESC, request_id)';
  return dialect === 'sqlite'
    ? `CREATE TABLE labels (${columns}, PRIMARY KEY ${key})${strict};`
    : `CREATE TABLE labels (${columns}); CREATE UNIQUE INDEX labels_by_name ON labels ${key};`;
}

/** What was read of the topic before is read again, for the table. */
function approvals(dialect: Dialect): string {
  const { text, whole } = words[dialect];
  return `
  CREATE TABLE approvals (
    approval_id ${text} PRIMARY KEY,
    tenant ${text} NOT NULL,
    requested_at ${whole} NOT NULL,
    expires_at ${whole} NOT NULL,
    is_open ${whole} NOT NULL,
    requested ${text} NOT NULL
  )${dialect === 'sqlite' ? ' STRICT' : ''};
  CREATE INDEX approvals_by_time ON approvals (tenant, requested_at, approval_id) WHERE is_open = 1;
  CREATE INDEX approvals_by_expiry ON approvals (expires_at);
  DELETE FROM positions WHERE topic = 'agent.approvals';
  `;
}

/** Entries of the audit, of their tenant once that is known, and dead letters. */
function auditAndLetters(dialect: Dialect): string {
  const { text, whole, strict } = words[dialect];
  const lists = ['request_id', 'session_id', 'actor', 'kind'].map(
    (column) => `CREATE INDEX audit_by_${column} ON audit (tenant, ${column}, at DESC, id DESC);`,
  );
  // Most entries are of no tool and have no outcome.
  const parts = ['tool', 'outcome'].map(
    (column) => `CREATE INDEX audit_by_${column} ON audit (tenant, ${column}, at DESC, id DESC) WHERE ${column} <> '';`,
  );
  return `
  CREATE TABLE audit (
    id ${text} PRIMARY KEY,
    tenant ${text} NOT NULL,
    link ${text} NOT NULL,
    at ${whole} NOT NULL,
    kind ${text} NOT NULL,
    request_id ${text} NOT NULL,
    session_id ${text} NOT NULL,
    actor ${text} NOT NULL,
    subject ${text},
    tool ${text} NOT NULL,
    outcome ${text} NOT NULL,
    authentic ${whole},
    config_version ${text} NOT NULL,
    chain ${text} NOT NULL,
    sequence ${whole} NOT NULL,
    source_offset ${whole} NOT NULL,
    hash ${text} NOT NULL,
    details ${text} NOT NULL
  )${strict};
  CREATE INDEX audit_by_time ON audit (tenant, at DESC, id DESC);
  ${[...lists, ...parts].join('\n  ')}
  CREATE INDEX audit_by_link ON audit (link) WHERE link <> '';
  CREATE INDEX audit_by_age ON audit (at);
  CREATE TABLE letters (
    id ${text} PRIMARY KEY,
    failed_at ${whole} NOT NULL,
    topic ${text} NOT NULL,
    partition ${whole} NOT NULL,
    record_offset ${whole} NOT NULL,
    service ${text} NOT NULL,
    session_id ${text} NOT NULL,
    code ${text} NOT NULL,
    reason ${text} NOT NULL,
    attempts ${whole} NOT NULL,
    taken_at ${whole} NOT NULL
  )${strict};
  CREATE INDEX letters_by_time ON letters (failed_at DESC, id);
  ${['topic', 'code', 'session_id', 'service']
    .map((column) => `CREATE INDEX letters_by_${column} ON letters (${column}, failed_at DESC, id);`)
    .join('\n  ')}
  `;
}

/**
 * What runs cost, which of them changed last, the words of questions, and what was used by day. Records of runs are
 * read again for it, as far as the log has them.
 */
function usage(dialect: Dialect): string {
  const { text, whole, strict } = words[dialect];
  const number = `${whole} NOT NULL DEFAULT 0`;
  const topics = ['toolsets', 'tool-calls', 'steps', 'responses'].map((name) => `'agent.${name}'`);
  return `
  ALTER TABLE runs ADD COLUMN model ${text} NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN micro_usd ${whole};
  ALTER TABLE runs ADD COLUMN parent ${text} NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN changed ${number};
  ALTER TABLE runs ADD COLUMN counted ${number};
  ALTER TABLE steps ADD COLUMN counted ${number};
  CREATE INDEX runs_by_change ON runs (tenant, changed);
  CREATE INDEX runs_by_parent ON runs (tenant, parent, started_at DESC, request_id) WHERE parent <> '';
  CREATE TABLE changes (id ${whole} PRIMARY KEY, latest ${whole} NOT NULL)${strict};
  INSERT INTO changes (id, latest) VALUES (1, 0);
  CREATE TABLE usage (
    tenant ${text} NOT NULL,
    day ${whole} NOT NULL,
    actor ${text} NOT NULL,
    model ${text} NOT NULL,
    outcome ${text} NOT NULL,
    runs ${whole} NOT NULL,
    failures ${whole} NOT NULL,
    input_tokens ${whole} NOT NULL,
    cached_input_tokens ${whole} NOT NULL,
    output_tokens ${whole} NOT NULL,
    micro_usd ${whole} NOT NULL,
    unpriced ${whole} NOT NULL,
    duration_ms ${whole} NOT NULL,
    PRIMARY KEY (tenant, day, actor, model, outcome)
  )${strict};
  CREATE INDEX usage_by_day ON usage (day);
  CREATE TABLE tool_usage (
    tenant ${text} NOT NULL,
    day ${whole} NOT NULL,
    tool ${text} NOT NULL,
    bucket ${whole} NOT NULL,
    calls ${whole} NOT NULL,
    failures ${whole} NOT NULL,
    PRIMARY KEY (tenant, day, tool, bucket)
  )${strict};
  CREATE INDEX tool_usage_by_day ON tool_usage (day);
  DELETE FROM positions WHERE topic IN (${topics.join(', ')});
  `;
}

/** Until when a run may last that has not ended, and an approval that is not decided. */
function openUntil(dialect: Dialect): string {
  return `
  ALTER TABLE runs ADD COLUMN deadline ${words[dialect].whole} NOT NULL DEFAULT 0;
  CREATE INDEX runs_open ON runs (deadline) WHERE ended_at IS NULL;
  CREATE INDEX approvals_open ON approvals (expires_at, requested_at) WHERE is_open = 1;
  `;
}

/**
 * Which agent runs ask, and what was used by it. What was counted before is of no agent, until the records of its runs
 * are read again, as far as the log has them.
 */
function agents(dialect: Dialect): string {
  const { text, whole, strict } = words[dialect];
  const sums = ['runs', 'failures', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'micro_usd', 'unpriced'];
  const columns = [...sums, 'duration_ms'].join(', ');
  const topics = ['toolsets', 'tool-calls', 'steps', 'responses'].map((name) => `'agent.${name}'`);
  return `
  ALTER TABLE runs ADD COLUMN agent ${text} NOT NULL DEFAULT '';
  CREATE INDEX runs_by_agent ON runs (tenant, agent, started_at DESC, request_id) WHERE agent <> '';
  DROP INDEX usage_by_day;
  ALTER TABLE usage RENAME TO usage_before;
  CREATE TABLE usage (
    tenant ${text} NOT NULL,
    day ${whole} NOT NULL,
    actor ${text} NOT NULL,
    agent ${text} NOT NULL,
    model ${text} NOT NULL,
    outcome ${text} NOT NULL,
    runs ${whole} NOT NULL,
    failures ${whole} NOT NULL,
    input_tokens ${whole} NOT NULL,
    cached_input_tokens ${whole} NOT NULL,
    output_tokens ${whole} NOT NULL,
    micro_usd ${whole} NOT NULL,
    unpriced ${whole} NOT NULL,
    duration_ms ${whole} NOT NULL,
    PRIMARY KEY (tenant, day, actor, agent, model, outcome)
  )${strict};
  INSERT INTO usage (tenant, day, actor, agent, model, outcome, ${columns})
    SELECT tenant, day, actor, '', model, outcome, ${columns} FROM usage_before;
  DROP TABLE usage_before;
  CREATE INDEX usage_by_day ON usage (day);
  DELETE FROM positions WHERE topic IN (${topics.join(', ')});
  `;
}

/** One script a version. Released scripts are never changed; a new one is added. */
export function migrations(dialect: Dialect): readonly string[] {
  return [
    runs(dialect),
    approvals(dialect),
    auditAndLetters(dialect),
    usage(dialect),
    openUntil(dialect),
    agents(dialect),
  ];
}
