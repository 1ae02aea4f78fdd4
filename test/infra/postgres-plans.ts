import pg from 'pg';
import { isWholeOnPurpose, isSmall } from './scans.ts';

/** Statements that this process’s own connections sent, by the database and the settings of the connection. */
const sent = new Map<string, Set<string>>();

interface Inside {
  readonly connectionParameters: {
    readonly database?: string;
    readonly application_name?: string;
    readonly options?: string;
  };
  query(...all: unknown[]): unknown;
}

/** Gathers what the project’s pools and clients send from now on; they are those that give their name. */
export function watchStatements(): void {
  const prototype = pg.Client.prototype as unknown as Inside & { isWatched?: boolean };
  if (prototype.isWatched) return;
  prototype.isWatched = true;
  const query = prototype.query;
  prototype.query = function (...all) {
    const { database = '', application_name: name = '', options = '' } = this.connectionParameters;
    const [first] = all as [string | { readonly text?: string }];
    const text = typeof first === 'string' ? first : first?.text;
    if (name.startsWith('sluice ') && text !== undefined && explainable.test(text)) {
      const key = JSON.stringify([database, options]);
      sent.set(key, (sent.get(key) ?? new Set()).add(text));
    }
    return query.apply(this, all);
  };
}

/** One statement; what is sent in batches stands with its values in place. */
const explainable = /^\s*(?:select|insert|update|delete|with)\b(?:(?!;\n)[\s\S])*$/i;

/** Throws for each statement sent to the database of this address that reads the whole of a table that grows. */
export async function requirePlans(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const scans: string[] = [];
  for (const [key, texts] of sent) {
    const [database, options] = JSON.parse(key) as [string, string];
    if (database !== name) continue;
    sent.delete(key);
    scans.push(...(await scansOn({ connectionString: url, options }, [...texts])));
  }
  if (scans.length === 0) return;
  throw new Error(
    `These statements read the whole of a table that grows. Give them an index, or say in test/infra/scans.ts why they may:\n${scans.join('\n')}`,
  );
}

/**
 * Plans of tables with a few rows depend on whether autovacuum has analyzed them yet, and it may have found them empty.
 * Without statistics PostgreSQL takes each for a table of ten pages, always.
 */
const ofTests = "nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'";
const forgetStatistics = `
  SELECT pg_clear_relation_stats(nspname, relname) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
  WHERE relkind IN ('r', 'i') AND ${ofTests};
  SELECT pg_clear_attribute_stats(schemaname, tablename, attname, inherited) FROM pg_stats
  WHERE ${ofTests.replaceAll('nspname', 'schemaname')}`;
/** PostgreSQL has those functions since 18. Before, a superuser writes what they write. */
const forgetStatisticsBefore18 = `
  UPDATE pg_class SET relpages = 0, reltuples = -1 FROM pg_namespace n
  WHERE n.oid = relnamespace AND relkind IN ('r', 'i') AND ${ofTests};
  DELETE FROM pg_statistic USING pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE starelid = c.oid AND ${ofTests}`;

/** Which of the statements (values as `$1`) read the whole of a table that grows, with what they read. */
export async function scansOn(config: pg.ClientConfig, texts: readonly string[]): Promise<readonly string[]> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num');
    const version = Number(rows[0]?.server_version_num);
    // Older ones make no plan of a statement without its values. The PostgreSQL of the registries is newer.
    if (version < 160_000) return [];
    await client.query(version < 180_000 ? forgetStatisticsBefore18 : forgetStatistics);
    const found: string[] = [];
    for (const text of texts) {
      if (isWholeOnPurpose(text)) continue;
      const plan = await planOf(client, text);
      const scans = plan === undefined ? [] : wholeReads(plan);
      if (scans.length > 0) found.push(`  ${text.trim()}\n    ${scans.join('; ')}`);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** Undefined where its table is gone by now. */
async function planOf(client: pg.Client, text: string): Promise<Node | undefined> {
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Node }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
    );
    return rows[0]?.['QUERY PLAN'][0].Plan;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '42P01') return undefined;
    throw error;
  }
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly Node[];
}

/** An index that is read from its beginning is a scan too, but for a page, which ends with its limit. */
function wholeReads(node: Node, isPage = false): readonly string[] {
  const { 'Node Type': type, 'Relation Name': table = '', Filter: filter } = node;
  const reads = type === 'Seq Scan' || (/^Index (?:Only )?Scan/.test(type) && node['Index Cond'] === undefined);
  const isFine = !reads || isSmall(table) || (isPage && type !== 'Seq Scan' && filter === undefined);
  const isOrdered = type === 'Limit' || (isPage && !/Sort|Aggregate|Join|Loop/.test(type));
  const below = (node.Plans ?? []).flatMap((plan) => wholeReads(plan, isOrdered));
  return isFine ? below : [`${type} on ${table}`, ...below];
}
