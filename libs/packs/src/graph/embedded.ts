import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, isBusy, isSqliteError, openFile } from '@sluice/sqlite';
import { Fault, parseExactJson, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { GraphFile } from './files.js';
import { answer } from './cypher-answer.js';
import { requireReading } from './read-only.js';
import { graphLimits } from './store.js';
import type { GraphCounts, GraphNode, GraphRelationship, Properties, PropertyGraph } from './store.js';

const kind = {
  noun: 'graph',
  code: 'storage',
  applicationId: 0x534c4752,
  migrations: [
    `CREATE TABLE nodes (key INTEGER PRIMARY KEY, label TEXT NOT NULL, id TEXT NOT NULL, properties TEXT NOT NULL, call TEXT NOT NULL,
       UNIQUE (label, id)) STRICT;
     CREATE TABLE relationships (source INTEGER NOT NULL REFERENCES nodes, type TEXT NOT NULL, target INTEGER NOT NULL REFERENCES nodes,
       properties TEXT NOT NULL, PRIMARY KEY (source, type, target)) STRICT, WITHOUT ROWID;
     CREATE INDEX by_target ON relationships (target);
     CREATE TABLE numbers (counter TEXT NOT NULL, call TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (counter, call),
       UNIQUE (counter, number)) STRICT;`,
    `CREATE INDEX by_id ON nodes (id);
     CREATE INDEX by_name ON nodes (properties ->> 'name');`,
  ],
} as const;

interface NodeRow {
  readonly key: number;
  readonly label: string;
  readonly properties: string;
}

interface RelationshipRow {
  readonly source: number;
  readonly type: string;
  readonly target: number;
  readonly properties: string;
}

const busyMs = 5_000;

/**
 * A property graph in a SQLite file, for one machine: several processes may use it. A node has one label. It begins
 * with what the files hold; after `close` the next use opens it again.
 */
export function openEmbeddedGraph(file: string, begin: readonly GraphFile[] = []): PropertyGraph {
  let database: DatabaseSync | undefined;
  const opened = (): DatabaseSync => {
    const made = openFile(file, kind);
    try {
      if (begin.length > 0) inTransaction(made, () => begin.forEach((each) => take(made, each)));
      return made;
    } catch (error) {
      made.close();
      throw error;
    }
  };
  const using = async <T>(work: (database: DatabaseSync) => T): Promise<T> => {
    const until = performance.now() + busyMs;
    for (;;) {
      try {
        database ??= opened();
        return work(database);
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) {
          if (!isSqliteError(error) && !(error instanceof Fault)) throw error;
          throw new ToolUnavailableError('The graph cannot be used.', { cause: error });
        }
        await sleep(20);
      }
    }
  };
  const nodes = (db: DatabaseSync, label: string | null): GraphNode[] => {
    const [where, values] = label === null ? ['', []] : ['WHERE label = ?', [label]];
    const rows = db.prepare(`SELECT key, label, properties FROM nodes ${where} ORDER BY key`).all(...values);
    return (rows as unknown as NodeRow[]).map(nodeOf);
  };
  const relationships = (db: DatabaseSync): GraphRelationship[] => {
    const rows = db.prepare('SELECT * FROM relationships').all();
    return (rows as unknown as RelationshipRow[]).map(relationshipOf);
  };

  return {
    query: async (cypher, parameters, signal) => {
      const tokens = requireReading(cypher);
      signal.throwIfAborted();
      const graph = await using((db) => ({ nodes: nodes(db, null), relationships: relationships(db) }));
      return answer(tokens, parameters, graph, graphLimits);
    },
    nodes: (label) => using((db) => nodes(db, label)),
    relationships: () => using(relationships),
    find: (label, id) =>
      using((db) => {
        const only = label === null ? '' : 'label = ? AND';
        const values = label === null ? [id] : [label, id];
        const row =
          db.prepare(`SELECT key, label, properties FROM nodes WHERE ${only} id = ? ORDER BY key`).get(...values) ??
          db
            .prepare(`SELECT key, label, properties FROM nodes WHERE ${only} properties ->> 'name' = ? ORDER BY key`)
            .get(...values);
        return row === undefined ? undefined : nodeOf(row as unknown as NodeRow);
      }),
    around: (node, most) =>
      using((db) => {
        const rows = db
          .prepare(
            'SELECT * FROM relationships WHERE source = ? UNION SELECT * FROM relationships WHERE target = ? LIMIT ?',
          )
          .all(Number(node.key), Number(node.key), most) as unknown as RelationshipRow[];
        return rows.map((row) => {
          const other = String(row.source) === node.key ? row.target : row.source;
          const found = db.prepare('SELECT key, label, properties FROM nodes WHERE key = ?').get(other);
          return { relationship: relationshipOf(row), other: nodeOf(found as unknown as NodeRow) };
        });
      }),
    add: (label, properties, call) =>
      using((db) =>
        inTransaction(db, () => {
          requireRoom(db, 'nodes');
          const made = db
            .prepare('INSERT INTO nodes (label, id, properties, call) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
            .run(label, properties.id, JSON.stringify(properties), call);
          if (made.changes > 0) return true;
          const there = db.prepare('SELECT call FROM nodes WHERE label = ? AND id = ?').get(label, properties.id);
          return there?.['call'] === call;
        }),
      ),
    relate: (from, type, to, properties) =>
      using((db) =>
        inTransaction(db, () => {
          requireRoom(db, 'relationships');
          return insertRelationship(db, Number(from.key), type, Number(to.key), properties);
        }),
      ),
    nextNumber: (label, prefix, call) =>
      using((db) =>
        inTransaction(db, () => {
          const before = db.prepare('SELECT number FROM numbers WHERE counter = ? AND call = ?').get(prefix, call);
          if (before !== undefined) return Number(before['number']);
          const { last } = db
            .prepare(
              `SELECT max(number) AS last FROM (SELECT number FROM numbers WHERE counter = ? UNION ALL
                 SELECT CAST(substr(id, length(?) + 1) AS INTEGER) FROM nodes WHERE label = ? AND id GLOB ? || '[0-9]*')`,
            )
            .get(prefix, prefix, label, prefix) as { readonly last: number | null };
          const number = (last ?? 0) + 1;
          db.prepare('INSERT INTO numbers (counter, call, number) VALUES (?, ?, ?)').run(prefix, call, number);
          return number;
        }),
      ),
    counts: () => using((db) => countsOf(nodes(db, null), relationships(db))),
    close: async () => {
      database?.close();
      database = undefined;
    },
  };
}

/**
 * Nodes that came from a file follow it; those that a tool made stay as they are, and so do nodes that a file no
 * longer has.
 */
function take(database: DatabaseSync, { nodes, relationships }: GraphFile): void {
  const put = database.prepare(
    `INSERT INTO nodes (label, id, properties, call) VALUES (?, ?, ?, ?)
       ON CONFLICT (label, id) DO UPDATE SET properties = excluded.properties WHERE call = excluded.call`,
  );
  for (const { label, ...properties } of nodes) put.run(label, properties.id, JSON.stringify(properties), fromFile);
  const key = database.prepare('SELECT key FROM nodes WHERE id = ? ORDER BY key');
  for (const { from, type, to } of relationships) {
    const [source, target] = [key.get(from), key.get(to)];
    insertRelationship(database, Number(source?.['key']), type, Number(target?.['key']), {});
  }
  requireRoom(database, 'nodes', 1);
  requireRoom(database, 'relationships', 1);
}

/** In place of the key of a call. */
const fromFile = 'file';

function insertRelationship(
  database: DatabaseSync,
  from: number,
  type: string,
  to: number,
  properties: Properties,
): boolean {
  return (
    database
      .prepare(
        'INSERT INTO relationships (source, type, target, properties) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      )
      .run(from, type, to, JSON.stringify(properties)).changes > 0
  );
}

/** Throws ToolUserError where the graph holds as much as it may. */
function requireRoom(database: DatabaseSync, table: 'nodes' | 'relationships', over = 0): void {
  const count = Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']);
  if (count >= graphLimits[table] + over)
    throw new ToolUserError(`The graph holds ${graphLimits[table]} ${table}, which is as many as it may.`);
}

/** Labels and types with their counts, sorted by name. */
function countsOf(nodes: readonly GraphNode[], relationships: readonly GraphRelationship[]): GraphCounts {
  const labels = new Map<string, { count: number; properties: Set<string> }>();
  const labelOf = new Map(nodes.map(({ key, labels: [label = ''] }) => [key, label]));
  for (const { labels: own, properties } of nodes) {
    for (const label of own) {
      const found = labels.get(label) ?? { count: 0, properties: new Set<string>() };
      labels.set(label, {
        count: found.count + 1,
        properties: new Set([...found.properties, ...Object.keys(properties)]),
      });
    }
  }
  const types = new Map<string, { count: number; between: Set<string> }>();
  for (const { type, from, to } of relationships) {
    const found = types.get(type) ?? { count: 0, between: new Set<string>() };
    types.set(type, {
      count: found.count + 1,
      between: found.between.add(`${labelOf.get(from) ?? ''} -> ${labelOf.get(to) ?? ''}`),
    });
  }
  const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number => (a[0] < b[0] ? -1 : 1);
  return {
    labels: [...labels]
      .sort(byName)
      .map(([label, { count, properties }]) => ({ label, count, properties: [...properties].sort() })),
    relationships: [...types]
      .sort(byName)
      .map(([type, { count, between }]) => ({ type, count, between: [...between].sort() })),
  };
}

function nodeOf({ key, label, properties }: NodeRow): GraphNode {
  return { key: String(key), labels: [label], properties: parseExactJson(properties) as Properties };
}

function relationshipOf({ source, type, target, properties }: RelationshipRow): GraphRelationship {
  return { type, from: String(source), to: String(target), properties: parseExactJson(properties) as Properties };
}
