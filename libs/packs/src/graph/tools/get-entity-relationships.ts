import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { textOf } from '../similarity.js';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../capability.js';

export const getEntityRelationships = defineGraphTool({
  type: 'get_entity_relationships',
  description: 'Get what a node of the graph is related to, in both directions. ' + 'Example: { "id": "R-0001" }.',
  shortDescription:
    'Get what a node of the graph is related to, in both directions, when you need to know its neighbours.',
  category: 'graph',
  input: z.object({ id: z.string().min(1).max(100).describe('The id or name of the node.') }),
  output: z.object({
    id: z.string(),
    label: z.string(),
    relationships: z.array(
      z.object({
        type: z.string(),
        direction: z.enum(['out', 'in']),
        id: z.string(),
        name: z.string(),
        label: z.string(),
      }),
    ),
  }),
  effect: 'read_only',
  redaction: { fields: ['id', 'label', 'relationships'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ id }, _context, { graph }) => {
    const node = await graph.find(null, id);
    if (node === undefined) throw new ToolUserError(`There is no node ${id} in the graph.`);
    const relationships = (await graph.around(node, 100)).map(({ relationship: { type, from }, other }) => ({
      type,
      direction: from === node.key ? ('out' as const) : ('in' as const),
      id: textOf(other, 'id'),
      name: textOf(other, 'name'),
      label: other.labels[0] ?? '',
    }));
    return { id: textOf(node, 'id'), label: node.labels[0] ?? '', relationships: partOf(relationships, 0).items };
  },
});
