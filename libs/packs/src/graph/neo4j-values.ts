import type { Duration, Node, Relationship } from 'neo4j-driver';
import { isRawNumber } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import { jsonNumber } from './integers.js';
import type { Neo4j } from './neo4j-server.js';
import type { GraphNode, GraphRelationship, Properties } from './store.js';

/** Labels of what the store keeps for itself beside the graph. */
export const callLabel = 'SluiceCall';
export const counterLabel = 'SluiceCounter';

/** Parameters as the server takes them: a whole number is an integer there, which SKIP and LIMIT need. */
export function sent(value: JsonValue | undefined, neo4j: Neo4j): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? neo4j.int(value) : value;
  if (isRawNumber(value)) return neo4j.int(value.rawJSON);
  if (Array.isArray(value)) return value.map((each: JsonValue) => sent(each, neo4j));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value as Properties).map(([name, each]) => [name, sent(each, neo4j)]));
  return value;
}

export function nodeOf({ elementId, labels, properties }: Node): GraphNode {
  return { key: elementId, labels, properties: propertiesOf(properties) };
}

export function relationshipOf(found: Relationship): GraphRelationship {
  const { type, startNodeElementId, endNodeElementId, properties } = found;
  return { type, from: startNodeElementId, to: endNodeElementId, properties: propertiesOf(properties) };
}

/**
 * A value of a row as JSON: a node with its labels, a relationship with its type, a path as a list of both; times,
 * points and durations as texts.
 */
export function received(value: unknown, neo4j: Neo4j): JsonValue {
  if (neo4j.isNode(value as object)) {
    const { labels, properties } = value as Node;
    return { labels: [...labels], ...propertiesOf(properties) };
  }
  if (neo4j.isRelationship(value as object) || neo4j.isUnboundRelationship(value as object)) {
    const { type, properties } = value as Relationship;
    return { type, ...propertiesOf(properties) };
  }
  if (neo4j.isPath(value as object)) {
    const { start, segments } = value as {
      start: unknown;
      segments: readonly { relationship: unknown; end: unknown }[];
    };
    return [start, ...segments.flatMap(({ relationship, end }) => [relationship, end])].map((each) =>
      received(each, neo4j),
    );
  }
  if (Array.isArray(value)) return value.map((each) => received(each, neo4j));
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, received(each, neo4j)]));
  return plainOf(value);
}

function propertiesOf(properties: Readonly<Record<string, unknown>>): Properties {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(plainOf) : plainOf(value),
    ]),
  );
}

function plainOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'bigint') return jsonNumber(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  // Times, durations, points and bytes have a text of their own. The driver ends a duration of days with a T that ISO
  // 8601 does not have.
  return String(value as Duration).replace(/^(P.+)T$/, '$1');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const made = Object.getPrototypeOf(value) as object | null;
  return made === null || Object.getPrototypeOf(made) === null;
}
