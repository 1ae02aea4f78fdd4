import { z } from 'zod';
import { similarIn } from '../similarity.js';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../capability.js';

export const findSimilarRequirements = defineGraphTool({
  type: 'find_similar_requirements',
  description:
    'Find the requirements of the graph that are most like a text, each with its score. ' +
    'The likest come first; 1 is the same text. Example: { "text": "The system must keep invoices for ten years.", "count": 3 }.',
  shortDescription: 'Find the requirements of the graph whose text is most like yours, each with a score from 0 to 1.',
  category: 'graph',
  input: z.object({
    text: z.string().min(3).max(2_000).describe('The text of the requirement.'),
    min_score: z.number().min(0).max(1).default(0.3).describe('Leave out what is less alike, from 0 to 1.'),
    count: z.int().min(1).max(20).default(5).describe('How many at most, from 1 to 20.'),
  }),
  output: z.object({
    requirements: z.array(z.object({ id: z.string(), name: z.string(), text: z.string(), score: z.number() })),
  }),
  effect: 'read_only',
  redaction: { fields: ['requirements'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ text, min_score, count }, _context, { graph }) => ({
    requirements: partOf(await similarIn(graph, text, min_score, count), 0).items,
  }),
});
