import { nodeLabels } from './metamodel.js';
import { callLabel, counterLabel } from './neo4j-values.js';

/** A name as Cypher takes any. */
const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

const notOurs = (variable: string): string => `NOT ${variable}:${callLabel} AND NOT ${variable}:${counterLabel}`;

/** Unique ids, also where several clients write at once. */
export const constraints: readonly string[] = [
  ...nodeLabels.map((label) => [`sluice_${label.toLowerCase()}_id`, label, 'id']),
  ['sluice_call_key', callLabel, 'key'],
  ['sluice_counter_name', counterLabel, 'name'],
].map(
  ([name = '', label = '', property = '']) =>
    `CREATE CONSTRAINT ${name} IF NOT EXISTS FOR (n:${label}) REQUIRE n.${property} IS UNIQUE`,
);

/** All statements of the store, by what they are for; a label or type that is not known before is quoted into them. */
export const statements = {
  nodes: (label: string | null) =>
    `MATCH (n${label === null ? '' : `:${quoted(label)}`}) WHERE ${notOurs('n')} RETURN n ORDER BY n.id LIMIT $most`,
  relationships: `MATCH ()-[r]->() RETURN r LIMIT $most`,
  find: (label: string | null, property: 'id' | 'name') =>
    `MATCH (n${label === null ? '' : `:${quoted(label)}`} {${property}: $value}) WHERE ${notOurs('n')} RETURN n ORDER BY n.id LIMIT 1`,
  around: 'MATCH (a) WHERE elementId(a) = $key MATCH (a)-[r]-(b) RETURN r, b ORDER BY type(r), b.id LIMIT $most',
  relate: (type: string) =>
    `MATCH (a) WHERE elementId(a) = $from MATCH (b) WHERE elementId(b) = $to MERGE (a)-[r:${quoted(type)}]->(b) ON CREATE SET r = $properties`,
  call: `MATCH (c:${callLabel} {key: $key}) RETURN c.made AS made`,
  called: `CREATE (:${callLabel} {key: $key, made: $made})`,
  isThere: (label: string) => `MATCH (n:${quoted(label)} {id: $id}) RETURN count(n) AS count`,
  add: (label: string) => `CREATE (n:${quoted(label)}) SET n = $properties`,
  // SET takes the lock of the counter, which is held until the transaction ends: who counts on the same one waits here.
  counter: `MERGE (k:${counterLabel} {name: $name}) ON CREATE SET k.last = 0 SET k.locked = true RETURN k.last AS last`,
  last: (label: string) =>
    `MATCH (n:${quoted(label)}) WHERE n.id STARTS WITH $name RETURN coalesce(max(toIntegerOrNull(substring(n.id, size($name)))), 0) AS last`,
  count: `MATCH (k:${counterLabel} {name: $name}) SET k.last = $last REMOVE k.locked`,
  /** A node that came from a file follows it, which its key says; one that is there otherwise stays. */
  load: (label: string) =>
    `UNWIND $nodes AS each OPTIONAL MATCH (n:${quoted(label)} {id: each.id}) OPTIONAL MATCH (c:${callLabel} {key: each.key})
     WITH each, n, c WHERE n IS NULL OR c IS NOT NULL
     MERGE (m:${quoted(label)} {id: each.id}) SET m = each.properties
     MERGE (d:${callLabel} {key: each.key}) ON CREATE SET d.made = each.id`,
  loadRelationships: (from: string, type: string, to: string) =>
    `UNWIND $pairs AS each MATCH (a:${quoted(from)} {id: each.from}) MATCH (b:${quoted(to)} {id: each.to}) MERGE (a)-[:${quoted(type)}]->(b)`,
  labelCounts: `MATCH (n) WHERE ${notOurs('n')} UNWIND labels(n) AS label RETURN label, count(*) AS count ORDER BY label`,
  labelKeys: `MATCH (n) WHERE ${notOurs('n')} UNWIND labels(n) AS label UNWIND keys(n) AS name RETURN label, collect(DISTINCT name) AS names`,
  typeCounts:
    'MATCH (a)-[r]->(b) RETURN type(r) AS type, count(*) AS count, collect(DISTINCT coalesce(labels(a)[0], "") + " -> " + coalesce(labels(b)[0], "")) AS between ORDER BY type',
} as const;
