import { z } from 'zod';
import { duplicateThreshold, isDuplicate, similarIn } from '../similarity.js';
import { partOf } from '../../part-of.js';
import { defineGraphTool } from '../capability.js';

export const checkForDuplicates = defineGraphTool({
  type: 'check_for_duplicates',
  description:
    'Check whether the graph already holds a requirement, before you create one. ' +
    'A similarity of 0.95 or more is a duplicate. Example: { "text": "The system must keep invoices for ten years." }.',
  shortDescription:
    'Check whether the graph already holds a requirement with the same text, right before you would create one.',
  category: 'graph',
  input: z.object({
    text: z.string().min(3).max(2_000).describe('The text of the requirement.'),
    except: z
      .string()
      .max(20)
      .optional()
      .describe('The id of a requirement to leave out, such as R-0001: the one itself.'),
  }),
  output: z.object({
    is_duplicate: z.boolean(),
    duplicates: z.array(z.object({ id: z.string(), name: z.string(), text: z.string(), score: z.number() })),
    threshold: z.number(),
  }),
  effect: 'read_only',
  redaction: { fields: ['is_duplicate', 'duplicates', 'threshold'] },
  capabilities: ['graph'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ text, except }, _context, { graph }) => {
    const alike = await similarIn(graph, text, duplicateThreshold, 10);
    const duplicates = alike.filter(({ id, score }) => id !== except && isDuplicate(score));
    return {
      is_duplicate: duplicates.length > 0,
      duplicates: partOf(duplicates, 0).items,
      threshold: duplicateThreshold,
    };
  },
});
