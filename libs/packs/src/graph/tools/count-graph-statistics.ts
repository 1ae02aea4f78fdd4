import { z } from 'zod';
import { defineGraphTool } from '../capability.js';

export const countGraphStatistics = defineGraphTool({
  type: 'count_graph_statistics',
  description:
    'Count the nodes and relationships of the graph, by label and type. ' +
    'Use it to see what there is, and that your changes arrived.',
  shortDescription:
    'Count the nodes and relationships of the requirements graph by label and type, for an overview or a report.',
  category: 'graph',
  input: z.object({}),
  output: z.object({
    nodes: z.int(),
    relationships: z.int(),
    by_label: z.array(z.object({ label: z.string(), count: z.int() })),
    by_type: z.array(z.object({ type: z.string(), count: z.int() })),
  }),
  effect: 'read_only',
  redaction: { fields: ['nodes', 'relationships', 'by_label', 'by_type'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { graph }) => {
    const { labels, relationships } = await graph.counts();
    return {
      nodes: labels.reduce((sum, { count }) => sum + count, 0),
      relationships: relationships.reduce((sum, { count }) => sum + count, 0),
      by_label: labels.map(({ label, count }) => ({ label, count })),
      by_type: relationships.map(({ type, count }) => ({ type, count })),
    };
  },
});
