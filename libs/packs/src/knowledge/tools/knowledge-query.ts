import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

const maxRows = 200;
/** UTF-8 bytes of the whole result as JSON: well inside the 32,768 a result may have. */
const maxBytes = 24 * 1024;

const cell = z.union([z.string(), z.number(), z.boolean()]);
const row = z.record(z.string(), cell);

export const knowledgeQuery = defineTool({
  type: 'knowledge-query',
  description:
    'Query the knowledge graph. Give an entity to read what is known about it, an entity and a relation to list the things so related, ' +
    'each with its own facts, or a SPARQL query. Returns rows and how many there are. Example: { "entity": "Switzerland", "relation": "border" }.',
  shortDescription:
    'Look up facts in the knowledge graph: what is known about an entity, or which things are related to it.',
  category: 'graph',
  input: z.object({
    entity: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Name of the entity to look up, for example a country, or its IRI.'),
    relation: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe(
        'Relation to follow from the entity, such as border, capital or language. Left out: all facts of the entity.',
      ),
    sparql: z
      .string()
      .min(1)
      .optional()
      .describe('A SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE query, instead of entity and relation.'),
  }),
  output: z.object({ rows: z.array(row), count: z.int().nonnegative(), truncated: z.boolean().optional() }),
  effect: 'read_only',
  redaction: { fields: ['rows', 'count', 'truncated'] },
  capabilities: ['knowledge', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ entity, relation, sparql }, _context, { knowledge, cancellation }) => {
    if (sparql === undefined && entity === undefined) {
      throw new ToolUserError(
        'Say what to look up: give an entity (and a relation, if you want related things), or a sparql query.',
      );
    }
    if (sparql !== undefined && entity !== undefined) {
      throw new ToolUserError('Give either an entity or a sparql query, not both.');
    }
    const { rows, count } =
      sparql === undefined
        ? await knowledge.find(entity ?? '', relation, cancellation.signal)
        : await knowledge.query(sparql, cancellation.signal);
    const kept = fitting(rows);
    return { rows: kept, count, ...(kept.length < count ? { truncated: true } : {}) };
  },
});

/** The first rows that fit: at most 200, and few enough bytes. */
function fitting<T>(rows: readonly T[]): T[] {
  const kept: T[] = [];
  let bytes = 64; // the members around the rows
  for (const each of rows.slice(0, maxRows)) {
    bytes += new TextEncoder().encode(JSON.stringify(each)).length + 1;
    if (bytes > maxBytes) break;
    kept.push(each);
  }
  return kept;
}
