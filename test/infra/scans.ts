/** Tables that do not grow with what the system has done. */
const small: Readonly<Record<string, string>> = {
  log: 'one row',
  topics: 'a row a topic',
  schemas: 'a row a version of a schema',
  changes: 'one row',
  positions: 'a row a group and topic, or a topic and partition',
  leases: 'a row a group',
  migrations: 'a row a version',
  sluice_ledger_migrations: 'a row a version',
  identity: 'one row',
  belonging: 'one row',
  sluice_belonging: 'one row',
  sluice_placement: 'one row',
  sqlite_schema: 'a row a table',
};

/** Statements that read a whole table because that is their purpose. */
const whole: readonly (readonly [statement: RegExp, reason: string])[] = [
  [/^DELETE FROM (?:runs|labels|steps|audit|letters|usage|tool_usage)$/, 'the tables are rebuilt'],
  [/^SELECT key, label, properties FROM nodes +ORDER BY key$/, 'a query reads the whole of an embedded graph'],
  [/^select \* from \S+ where tenant = \$1 and actor = \$2$/, 'the table of users is the operator’s own'],
  [/^SELECT \* FROM relationships$/, 'as the nodes; the graph has a limit'],
  [/^SELECT count\(\*\) AS count FROM (?:nodes|relationships)$/, 'this holds the graph to its limit'],
];

export function isWholeOnPurpose(text: string): boolean {
  return whole.some(([statement]) => statement.test(text));
}

export function isSmall(table: string): boolean {
  return table in small || table.startsWith('pg_');
}

/** Which tables that grow the statement reads whole, by its plan as SQLite words it. */
export function scansOf(text: string, plan: readonly string[]): readonly string[] {
  if (isWholeOnPurpose(text)) return [];
  // A page in the order of an index ends with its limit.
  const isPage =
    !/\bWHERE\b/i.test(text) && /\bLIMIT \S+\s*$/i.test(text) && !plan.some((each) => /TEMP B-TREE/.test(each));
  if (isPage && plan.every((each) => / USING (?:COVERING )?INDEX /.test(each))) return [];
  return plan.filter((detail) => {
    const table = /^SCAN (?!CONSTANT ROW)(\w+)/.exec(detail)?.[1];
    return table !== undefined && !isSmall(table);
  });
}
