import { localPrincipal, quote } from '@sluice/core';
import type { Finding, GraphSettings, Neo4jSettings, ToolType } from '@sluice/core';
import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** `graph`: where the graphs of requirements are, and what they begin with. */
export function readGraph(section: Section): { readonly graph?: GraphSettings } {
  section.closed(configurationKeys.graph);
  const folder = section.text('folder', 'the path of a folder');
  const load = section.names('load', 'a list of JSON files') ?? [];
  const neo4j = section.has('neo4j') ? readNeo4j(section.section('neo4j')) : null;
  if (section.has('neo4j') && folder !== null)
    section.problem(section.at('folder'), 'a folder beside a server', 'either `folder` or `neo4j`');
  if (folder === null && load.length === 0 && neo4j === null) return {};
  return { graph: { folder, load, ...(neo4j === null ? {} : { neo4j }) } };
}

const databaseName = /^[A-Za-z][A-Za-z0-9.-]{2,62}$/;

function readNeo4j(section: Section): Neo4jSettings {
  section.closed(configurationKeys['graph.neo4j']);
  const caFile = section.text('ca_file', 'the path of a PEM file');
  const url = readUrl(section);
  if (caFile !== null && url !== '' && !url.includes('+s:'))
    section.problem(
      section.at('ca_file'),
      'a certificate for a connection without TLS',
      'a `url` with `+s`, such as `neo4j+s://graph.example`',
    );
  return {
    url,
    user: section.text('user', 'the name of a user') ?? 'neo4j',
    passwordEnv: section.text('password_env', 'the name of an environment variable') ?? 'NEO4J_PASSWORD',
    databases: readDatabases(section),
    caFile,
    connectMs: 1_000 * section.wholeNumber('connect_seconds', { byDefault: 5, most: 60 }),
    queryMs: 1_000 * section.wholeNumber('query_seconds', { byDefault: 10, most: 3_600 }),
    pool: section.wholeNumber('pool', { byDefault: 10, most: 1_000 }),
    writeQueries: section.flag('write_queries') ?? false,
  };
}

/** Where a password stands in it, it is not repeated: a configuration travels in the clear. */
function readUrl(section: Section): string {
  const write = 'an address such as `neo4j://localhost:7687`, or `neo4j+s://graph.example` with TLS';
  const url = section.text('url', write);
  if (url === null) {
    if (!section.has('url')) section.problem(section.at('url'), 'nothing', write);
    return '';
  }
  if (/^[^/]*:\/\/[^/]*@/.test(url)) {
    const found = 'an address with a user or a password in it';
    section.problem(section.at('url'), found, 'the address alone; `user` and `password_env` say the rest');
    return '';
  }
  if (/^(neo4j|bolt)(\+s)?:\/\/([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?\/?$/.test(url)) return url;
  section.refuse('url', write);
  return '';
}

/**
 * `database` is that of requests without an identity; others have none unless `databases` says so, since a query sees
 * all of its database.
 */
function readDatabases(section: Section): Readonly<Record<string, string>> {
  const write = 'the name of a database: letters, digits, dots and dashes, such as `neo4j`';
  const own = section.text('database', write);
  if (own !== null && !databaseName.test(own)) section.refuse('database', write);
  const written = section.section('databases');
  const named = written.keys().flatMap((tenant) => {
    const database = written.text(tenant, write);
    if (database === null) {
      if (!written.has(tenant)) written.problem(written.at(tenant), describe(null), write);
      return [];
    }
    if (!databaseName.test(database)) written.refuse(tenant, write);
    return [[tenant, database] as const];
  });
  const { tenantId } = localPrincipal;
  if (own !== null && named.some(([tenant]) => tenant === tenantId))
    section.problem(section.at('database'), `another database for the tenant ${quote(tenantId)}`, 'it in one place');
  if (own === null && named.length > 0) return Object.fromEntries(named);
  return Object.fromEntries([[tenantId, own ?? 'neo4j'], ...named]);
}

/** The type whose calls change the graph where `write_queries` is set. */
const queryType = 'execute_cypher_query';

/**
 * With `write_queries` a query has an effect: it is decided on, approved and repeated as other calls that change
 * something.
 */
export function withQueryWrites(
  types: readonly ToolType[],
  { graph }: { readonly graph?: GraphSettings },
): readonly ToolType[] {
  if (graph?.neo4j?.writeQueries !== true) return types;
  return types.map((type) => {
    if (type.type !== queryType) return type;
    const description =
      'Ask the requirements graph a question in Cypher, or change nodes and relationships of it, when no other graph tool does. ' +
      'Returns columns and rows, at most 500; give values as parameters. CREATE, MERGE, SET, REMOVE and DELETE are possible, schema, procedures and LOAD CSV are not. ' +
      'Example: { "query": "MATCH (r:Requirement {id: $id}) SET r.priority = $priority RETURN r.id", "parameters": { "id": "R-0001", "priority": "high" } }.';
    const shortDescription =
      'Ask the requirements graph a question in Cypher, or change it with one, when no other graph tool does.';
    return { ...type, description, shortDescription, effect: 'state_change', repeatable: true };
  });
}

/** The executor may have what is missing here, so it is no mistake. */
export function findAboutGraph(
  { graph }: { readonly graph?: GraphSettings },
  given: { isSet?(variable: string): boolean },
): readonly Finding[] {
  const variable = graph?.neo4j?.passwordEnv;
  if (variable === undefined || (given.isSet?.(variable) ?? true)) return [];
  const message = `The variable ${variable} is not set here: where it is not set either, the executor does not start while the policy allows a tool of the graph.`;
  return [{ kind: 'unset_variable', path: 'graph.neo4j.password_env', message }];
}
