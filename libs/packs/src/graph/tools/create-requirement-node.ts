import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { requirementTypes } from '../../document/candidates.js';
import { defineGraphTool } from '../capability.js';

export const createRequirementNode = defineGraphTool({
  type: 'create_requirement_node',
  description:
    'Put a validated requirement into the graph as a node. ' +
    'Take the id from generate_requirement_id. An id that is there already is refused. Example: { "id": "R-0001", "name": "Invoice retention", "text": "The system must retain all invoice records for at least 10 years.", "req_type": "compliance" }.',
  shortDescription:
    'Put a validated requirement into the graph under its new id, after you have checked it for duplicates.',
  category: 'graph',
  input: z.object({
    id: z
      .string()
      .regex(/^R-\d{4,6}$/)
      .describe('The id, as generate_requirement_id gave it.'),
    name: z.string().min(3).max(80).describe('A short name, at most 80 characters.'),
    text: z.string().min(15).max(2_000).describe('The whole requirement.'),
    req_type: z
      .enum(requirementTypes)
      .default('functional')
      .describe('functional, compliance, constraint or non_functional.'),
    priority: z.enum(['high', 'medium', 'low']).default('medium').describe('high, medium or low.'),
    gobd_relevant: z.boolean().default(false).describe('Whether the GoBD apply to it.'),
    citations: z.array(z.string().max(20)).max(20).default([]).describe('Ids of the citations that it rests on.'),
  }),
  output: z.object({ id: z.string(), label: z.string() }),
  effect: 'state_change',
  redaction: { fields: ['id', 'label'] },
  capabilities: ['graph', 'idempotency'],
  repeatable: true,
  requiresConnection: false,
  execute: async (
    { id, name, text, req_type, priority, gobd_relevant, citations },
    _context,
    { graph, idempotency },
  ) => {
    const properties = { id, name, text, type: req_type, priority, gobd_relevant, citations };
    if (!(await graph.add('Requirement', properties, idempotency.key)))
      throw new ToolUserError(`There is a requirement ${id} already. Take a new id from generate_requirement_id.`);
    return { id, label: 'Requirement' };
  },
});
