import { z } from 'zod';
import { similarIn } from '../../graph/similarity.js';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../../graph/capability.js';

export const querySimilarRequirements = defineGraphTool({
  type: 'query_similar_requirements',
  description:
    'Look whether the graph holds requirements like one that you are about to write. ' +
    'Returns the likest first, without scores; check_for_duplicates decides whether one is the same. Example: { "text": "The system must keep invoices for ten years." }.',
  shortDescription:
    'Look whether the graph holds requirements like the one you are about to write, to avoid writing it again.',
  category: 'search',
  input: z.object({
    text: z.string().min(3).max(2_000).describe('The text of the requirement.'),
    min_score: z.number().min(0).max(1).default(0.3).describe('Leave out what is less alike, from 0 to 1.'),
    count: z.int().min(1).max(20).default(5).describe('How many at most, from 1 to 20.'),
  }),
  output: z.object({ requirements: z.array(z.object({ id: z.string(), name: z.string(), text: z.string() })) }),
  effect: 'read_only',
  redaction: { fields: ['requirements'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ text, min_score, count }, _context, { graph }) => ({
    requirements: partOf(await similarIn(graph, text, min_score, count), 0).items.map(({ id, name, text: found }) => ({
      id,
      name,
      text: found,
    })),
  }),
});
