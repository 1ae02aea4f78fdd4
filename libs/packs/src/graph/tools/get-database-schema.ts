import { z } from 'zod';
import { relationshipTypes } from '../metamodel.js';
import { defineGraphTool } from '../capability.js';

export const getDatabaseSchema = defineGraphTool({
  type: 'get_database_schema',
  description:
    'Get the schema of the requirements graph: labels, properties and relationships. ' +
    'Says what there is in the graph now, and which relationships the metamodel knows. Read it before you write a Cypher query.',
  shortDescription:
    'Get the labels, properties and relationships of the requirements graph, before you write a Cypher query.',
  category: 'graph',
  input: z.object({}),
  output: z.object({
    labels: z.array(z.object({ label: z.string(), properties: z.array(z.string()) })),
    relationships: z.array(z.object({ type: z.string(), between: z.array(z.string()) })),
    metamodel: z.array(z.string()),
  }),
  effect: 'read_only',
  redaction: { fields: ['labels', 'relationships', 'metamodel'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { graph }) => {
    const { labels, relationships } = await graph.counts();
    return {
      labels: labels.map(({ label, properties }) => ({ label, properties: [...properties] })),
      relationships: relationships.map(({ type, between }) => ({ type, between: [...between] })),
      metamodel: Object.entries(relationshipTypes).map(([type, [from, to]]) => `(${from})-[${type}]->(${to})`),
    };
  },
});
