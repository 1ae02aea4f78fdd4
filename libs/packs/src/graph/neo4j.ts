import type { Node, RecordShape, Relationship, Result } from 'neo4j-driver';
import { parseExactJson, ToolUserError } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import type { GraphFile } from './files.js';
import { sentenceOf } from './neo4j-faults.js';
import { Neo4jDatabase } from './neo4j-server.js';
import type { Neo4j, Neo4jServerSettings } from './neo4j-server.js';
import { constraints, statements } from './neo4j-statements.js';
import { nodeOf, received, relationshipOf, sent } from './neo4j-values.js';
import { requireDataOnly, requireReading } from './read-only.js';
import { graphLimits } from './store.js';
import type { GraphCounts, GraphNode, GraphRelationship, Properties, PropertyGraph, QueryRows } from './store.js';

export interface Neo4jGraphSettings extends Neo4jServerSettings {
  /** Whether a query may change nodes and relationships. */
  readonly writeQueries: boolean;
}

/** A graph whose server may be elsewhere. */
export interface ServedGraph extends PropertyGraph {
  /** What keeps it from being used, in a sentence for the operator; null if nothing does. */
  problem(): Promise<string | null>;
}

/**
 * A property graph in a database of Neo4j, which others may use as well. What keeps ids from being given twice is
 * made at the first use, and then what the files hold is put in. Keys of calls are nodes of a label of their own,
 * which no tool but a query shows.
 */
export function openNeo4jGraph(settings: Neo4jGraphSettings, begin: readonly GraphFile[] = []): ServedGraph {
  return new Neo4jGraph(settings, begin);
}

/** Characters of the answer of a query that changed something, which is kept for the same call. */
const longestKept = 200_000;

class Neo4jGraph implements ServedGraph {
  private readonly database: Neo4jDatabase;
  private begun: Promise<void> | undefined;

  constructor(
    private readonly settings: Neo4jGraphSettings,
    private readonly begin: readonly GraphFile[],
  ) {
    this.database = new Neo4jDatabase(settings);
  }

  async problem(): Promise<string | null> {
    try {
      await this.ready();
      await this.rows('RETURN 1 AS one', {}, () => null);
      return null;
    } catch (error) {
      return sentenceOf(error, this.settings);
    }
  }

  async query(cypher: string, parameters: Properties, signal: AbortSignal, call: string): Promise<QueryRows> {
    const changes = this.settings.writeQueries ? requireDataOnly(cypher) : (requireReading(cypher), false);
    signal.throwIfAborted();
    const asked = async (): Promise<QueryRows> => {
      await this.ready();
      signal.throwIfAborted();
      return await (changes ? this.change(cypher, parameters, call) : this.answer(cypher, parameters));
    };
    return await orAborted(asked(), signal);
  }

  async nodes(label: string | null): Promise<readonly GraphNode[]> {
    const most = graphLimits.nodes;
    const found = await this.rows(statements.nodes(label), { most: most + 1 }, ({ n }) => nodeOf(n as Node));
    if (found.length > most) throw tooMany('nodes', most);
    return found;
  }

  async relationships(): Promise<readonly GraphRelationship[]> {
    const most = graphLimits.relationships;
    const found = await this.rows(statements.relationships, { most: most + 1 }, ({ r }) =>
      relationshipOf(r as Relationship),
    );
    if (found.length > most) throw tooMany('relationships', most);
    return found;
  }

  async find(label: string | null, id: string): Promise<GraphNode | undefined> {
    for (const property of ['id', 'name'] as const) {
      const [found] = await this.rows(statements.find(label, property), { value: id }, ({ n }) => nodeOf(n as Node));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  around({ key }: GraphNode, most: number): ReturnType<PropertyGraph['around']> {
    return this.rows(statements.around, { key, most }, ({ r, b }) => ({
      relationship: relationshipOf(r as Relationship),
      other: nodeOf(b as Node),
    }));
  }

  async add(label: string, properties: Properties & { readonly id: string }, call: string): Promise<boolean> {
    const made = `${label} ${properties.id}`;
    return await this.changed(async (run) => {
      const [before] = await run(statements.call, { key: call });
      if (before !== undefined) return before['made'] === made;
      const [there] = await run(statements.isThere(label), { id: properties.id });
      if (Number(there?.['count']) !== 0) return false;
      await run(statements.add(label), { properties });
      await run(statements.called, { key: call, made });
      return true;
    });
  }

  async relate(from: GraphNode, type: string, to: GraphNode, properties: Properties): Promise<boolean> {
    await this.ready();
    return await this.database.write(async (transaction, neo4j) => {
      const ends = { from: from.key, to: to.key };
      const result = await transaction.run(statements.relate(type), { ...ends, properties: sent(properties, neo4j) });
      return result.summary.counters.updates().relationshipsCreated > 0;
    });
  }

  async nextNumber(label: string, prefix: string, call: string): Promise<number> {
    const key = `number ${prefix} ${call}`;
    return await this.changed(async (run) => {
      const [counter] = await run(statements.counter, { name: prefix });
      const [before] = await run(statements.call, { key });
      if (before !== undefined) return Number(before['made']);
      const [there] = await run(statements.last(label), { name: prefix });
      const number = Math.max(Number(counter?.['last']), Number(there?.['last'])) + 1;
      await run(statements.count, { name: prefix, last: number });
      await run(statements.called, { key, made: String(number) });
      return number;
    });
  }

  async counts(): Promise<GraphCounts> {
    const names = new Map(
      await this.rows(statements.labelKeys, {}, ({ label, names: found }) => [
        label as string,
        [...(found as string[])].sort(),
      ]),
    );
    const labels = await this.rows(statements.labelCounts, {}, ({ label, count }) => ({
      ...{ label: label as string, count: Number(count) },
      properties: names.get(label as string) ?? [],
    }));
    const relationships = await this.rows(statements.typeCounts, {}, ({ type, count, between }) => ({
      ...{ type: type as string, count: Number(count) },
      between: [...(between as string[])].sort(),
    }));
    return { labels, relationships };
  }

  async close(): Promise<void> {
    this.begun = undefined;
    await this.database.close();
  }

  /** Once in the life of the store; after a failure the next use tries again. */
  private ready(): Promise<void> {
    this.begun ??= this.prepare().catch((error: unknown) => {
      this.begun = undefined;
      throw error;
    });
    return this.begun;
  }

  private async prepare(): Promise<void> {
    await this.database.run(...constraints);
    const nodes = this.begin.flatMap((file) => file.nodes);
    if (nodes.length === 0) return;
    const labels = new Map(nodes.map(({ id, label }) => [id, label]));
    const pairs = this.begin.flatMap(({ relationships }) => relationships);
    await this.database.write(async (transaction, neo4j) => {
      for (const [label, own] of Map.groupBy(nodes, (node) => node.label)) {
        const loaded = own.map(({ label: _, ...properties }) => ({
          ...{ id: properties.id, key: `file ${label} ${properties.id}` },
          properties,
        }));
        await transaction.run(statements.load(label), { nodes: sent(loaded as unknown as JsonValue, neo4j) });
      }
      const kinds = Map.groupBy(pairs, ({ from, type, to }) =>
        JSON.stringify([labels.get(from) ?? '', type, labels.get(to) ?? '']),
      );
      for (const [kind, own] of kinds) {
        const [from, type, to] = JSON.parse(kind) as [string, string, string];
        await transaction.run(statements.loadRelationships(from, type, to), { pairs: own });
      }
    });
  }

  private async rows<T>(
    statement: string,
    parameters: Properties,
    made: (row: Readonly<Record<string, unknown>>) => T,
  ): Promise<T[]> {
    await this.ready();
    return await this.database.read(async (transaction, neo4j) => {
      const { records } = await transaction.run(statement, sent(parameters, neo4j) as RecordShape);
      return records.map((record) => made(record.toObject()));
    });
  }

  private async changed<T>(work: (run: Run) => Promise<T>): Promise<T> {
    await this.ready();
    const once = (): Promise<T> =>
      this.database.write((transaction, neo4j) =>
        work(async (statement, parameters) => {
          const { records } = await transaction.run(statement, sent(parameters, neo4j) as RecordShape);
          return records.map((record) => record.toObject());
        }),
      );
    try {
      return await once();
    } catch (error) {
      // Another made the same at the same time: what it made is there now, so that the second look sees it.
      if (error instanceof ToolUserError) return await once();
      throw error;
    }
  }

  private answer(cypher: string, parameters: Properties): Promise<QueryRows> {
    return this.database.read(async (transaction, neo4j) => {
      const given = sent(parameters, neo4j) as RecordShape;
      const { summary } = await transaction.run(`EXPLAIN ${cypher}`, given);
      if (summary.queryType !== 'r')
        throw new ToolUserError('The query does more than read, and only reading is allowed here.');
      return await firstRows(transaction.run(cypher, given), neo4j);
    });
  }

  /**
   * In one transaction with the key of its call, so that it takes effect once; and so that the same call gives the
   * same answer.
   */
  private change(cypher: string, parameters: Properties, call: string): Promise<QueryRows> {
    const key = `query ${call}`;
    return this.database.write(async (transaction, neo4j) => {
      const [before] = (await transaction.run(statements.call, { key })).records;
      if (before !== undefined) return parseExactJson(before.get('made') as string) as unknown as QueryRows;
      const given = sent(parameters, neo4j) as RecordShape;
      const { summary } = await transaction.run(`EXPLAIN ${cypher}`, given);
      if (!['r', 'w', 'rw'].includes(summary.queryType))
        throw new ToolUserError('The query changes more than nodes and relationships, which is not allowed here.');
      const answer = kept(await firstRows(transaction.run(cypher, given), neo4j, true));
      await transaction.run(statements.called, { key, made: JSON.stringify(answer) });
      return answer;
    });
  }
}

type Run = (statement: string, parameters: Properties) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** `whole`: those behind them are read as well, so that a query that changes something does all of it. */
async function firstRows(result: Result, neo4j: Neo4j, whole = false): Promise<QueryRows> {
  const columns = await result.keys();
  const rows: JsonValue[][] = [];
  for await (const record of result) {
    if (rows.length > graphLimits.rows) {
      if (!whole) break;
      continue;
    }
    rows.push(columns.map((name) => received(record.get(name), neo4j)));
  }
  return { columns, rows: rows.slice(0, graphLimits.rows), truncated: rows.length > graphLimits.rows };
}

function kept({ columns, rows, truncated }: QueryRows): QueryRows {
  let room = longestKept;
  const whole = rows.filter((row) => (room -= JSON.stringify(row).length) > 0);
  return { columns, rows: whole, truncated: truncated || whole.length < rows.length };
}

function tooMany(what: string, most: number): ToolUserError {
  return new ToolUserError(
    `The graph holds more than ${most} ${what}, too many to go through all. Ask for a part of them with a query.`,
  );
}

/** Rejects when the signal aborts. The server goes on until the time of the query is over. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
    aborted.promise.catch(() => undefined);
    work.catch(() => undefined);
  }
}
