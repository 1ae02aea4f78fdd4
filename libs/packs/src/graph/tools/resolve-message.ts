import { z } from 'zod';
import { resolveIn } from '../similarity.js';
import { defineGraphTool } from '../capability.js';

export const resolveMessage = defineGraphTool({
  type: 'resolve_message',
  description:
    'Find which message of the graph a mention means. ' +
    'match is exact for an id, name or alias whatever its case, fuzzy for a similar name, none otherwise; others lists what comes near. Example: { "mention": "InvoiceArchived" }.',
  shortDescription: 'Find which message of the graph a name in a text means, before you relate anything to it.',
  category: 'graph',
  input: z.object({ mention: z.string().min(2).max(100).describe('The name as the text has it.') }),
  output: z.object({
    match: z.enum(['exact', 'fuzzy', 'none']),
    id: z.string().optional(),
    name: z.string().optional(),
    score: z.number(),
    others: z.array(z.object({ id: z.string(), name: z.string(), score: z.number() })),
  }),
  effect: 'read_only',
  redaction: { fields: ['match', 'id', 'name', 'score', 'others'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ mention }, _context, { graph }) => {
    const found = await resolveIn(graph, 'Message', mention);
    return { ...found, others: [...found.others] };
  },
});
