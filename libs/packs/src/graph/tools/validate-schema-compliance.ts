import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { metamodelRules, violationsOf } from '../metamodel.js';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../capability.js';

export const validateSchemaCompliance = defineGraphTool({
  type: 'validate_schema_compliance',
  description:
    'Check the graph, or one node of it, against the rules of the metamodel. ' +
    'Returns each violation with its rule and node; compliant is true if there is none. Example: { "id": "R-0001" }.',
  shortDescription:
    'Check the graph, or one node of it, against the rules of the metamodel, after you have changed it.',
  category: 'graph',
  input: z.object({
    id: z.string().max(100).optional().describe('Only violations of the node with this id; left out, all.'),
  }),
  output: z.object({
    compliant: z.boolean(),
    violations: z.array(z.object({ rule: z.string(), node: z.string(), problem: z.string() })),
    total: z.int(),
    rules: z.array(z.string()),
  }),
  effect: 'read_only',
  redaction: { fields: ['compliant', 'violations', 'total', 'rules'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ id }, _context, { graph }) => {
    if (id !== undefined && (await graph.find(null, id)) === undefined)
      throw new ToolUserError(`There is no node ${id} in the graph.`);
    const violations = violationsOf(await graph.nodes(null), await graph.relationships()).filter(
      ({ node }) => id === undefined || node === id,
    );
    const { items } = partOf(violations, 0, 100);
    const rules = Object.entries(metamodelRules).map(([rule, asks]) => `${rule}: ${asks}`);
    return { compliant: violations.length === 0, violations: items, total: violations.length, rules };
  },
});
