import { z } from 'zod';
import { defineGraphTool } from '../capability.js';

export const generateRequirementId = defineGraphTool({
  type: 'generate_requirement_id',
  description:
    'Get a new id for a requirement, such as R-0001, before you create it. ' +
    'No id is given twice, also where several callers ask at the same time.',
  shortDescription: 'Get a new id such as R-0001 that no other requirement has, right before you create a requirement.',
  category: 'graph',
  input: z.object({}),
  output: z.object({ id: z.string() }),
  effect: 'state_change',
  redaction: { fields: ['id'] },
  capabilities: ['graph', 'idempotency'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { graph, idempotency }) => ({
    id: `R-${String(await graph.nextNumber('Requirement', 'R-', idempotency.key)).padStart(4, '0')}`,
  }),
});
