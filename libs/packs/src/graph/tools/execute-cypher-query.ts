import { z } from 'zod';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../capability.js';

export const executeCypherQuery = defineGraphTool({
  type: 'execute_cypher_query',
  description:
    'Ask the requirements graph a question in Cypher, when no other graph tool answers it. ' +
    'Reading only. Returns columns and rows, at most 500; give values as parameters. Example: { "query": "MATCH (r:Requirement)-[:FULFILLED_BY_OBJECT]->(o) WHERE o.name = $name RETURN r.id, r.name", "parameters": { "name": "Invoice" } }.',
  shortDescription: 'Ask the requirements graph a question in read-only Cypher, when no other graph tool answers it.',
  category: 'graph',
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(10_000)
      .describe('The query: MATCH, WHERE, WITH, UNWIND, RETURN, ORDER BY, SKIP, LIMIT.'),
    parameters: z
      .record(z.string().max(100), z.union([z.string(), z.number(), z.boolean()]))
      .default({})
      .describe('Values for the names that the query has as $name; an integer beyond 2^53 stands in the query itself.'),
  }),
  output: z.object({
    columns: z.array(z.string()),
    rows: z.array(z.array(z.unknown())),
    count: z.int(),
    truncated: z.boolean(),
  }),
  effect: 'read_only',
  redaction: { fields: ['columns', 'rows', 'count', 'truncated'] },
  capabilities: ['graph', 'cancellation', 'idempotency'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ query, parameters }, _context, { graph, cancellation: { signal }, idempotency: { key } }) => {
    const { columns, rows, truncated } = await graph.query(query, parameters, signal, key);
    const { items } = partOf(rows, 0, 500);
    const count = rows.length;
    return {
      columns: [...columns],
      rows: items.map((row) => [...row]),
      count,
      truncated: truncated || items.length < count,
    };
  },
});
