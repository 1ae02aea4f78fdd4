import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { textOf } from '../similarity.js';
import { defineGraphTool } from '../capability.js';

export const createFulfillmentRelationship = defineGraphTool({
  type: 'create_fulfillment_relationship',
  description:
    'State that a business object or a message fulfils a requirement. ' +
    'Both must be in the graph; resolve_business_object and resolve_message give their ids. created is false if it is stated already. Example: { "requirement": "R-0001", "fulfilled_by": "BO-INVOICE", "kind": "business_object" }.',
  shortDescription:
    'State in the graph that a business object or a message fulfils a requirement, once both of them are there.',
  category: 'graph',
  input: z.object({
    requirement: z.string().max(20).describe('The id of the requirement, such as R-0001.'),
    fulfilled_by: z.string().min(1).max(100).describe('The id of the business object or message.'),
    kind: z.enum(['business_object', 'message']).describe('Which of the two it is.'),
    rationale: z.string().max(500).default('').describe('Why it fulfils the requirement, in a sentence.'),
  }),
  output: z.object({ type: z.string(), from: z.string(), to: z.string(), created: z.boolean() }),
  effect: 'state_change',
  redaction: { fields: ['type', 'from', 'to', 'created'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ requirement, fulfilled_by, kind, rationale }, _context, { graph }) => {
    const [label, type] =
      kind === 'message' ? ['Message', 'FULFILLED_BY_MESSAGE'] : ['BusinessObject', 'FULFILLED_BY_OBJECT'];
    const from = await graph.find('Requirement', requirement);
    if (from === undefined) throw new ToolUserError(`There is no requirement ${requirement}. Create it first.`);
    const to = await graph.find(label as string, fulfilled_by);
    if (to === undefined)
      throw new ToolUserError(`There is no ${label} ${fulfilled_by}. Give the id of one that is there.`);
    const created = await graph.relate(from, type as string, to, { rationale });
    return { type: type as string, from: requirement, to: textOf(to, 'id'), created };
  },
});
