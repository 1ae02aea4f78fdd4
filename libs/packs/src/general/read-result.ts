import { z } from 'zod';
import { readResultType } from '@sluice/core';
import { defineResultTool } from './result-capability.js';

export const readResult = defineResultTool({
  type: readResultType,
  description:
    'Read on in a long result of this run, of which you were given the first page. Of a text give the line to begin at, of a list or an ' +
    'object the path and the item; "next" of a page says where the next one begins. What a page names as "larger" is read by its path. ' +
    'Example: { "content": "5f0c9a1be2d34c77", "path": "/rows", "from": 200 }.',
  shortDescription: 'Read on in a long result of this run, of which only the first page was given.',
  input: z.object({
    content: z
      .string()
      .regex(/^[0-9a-f]{12,64}$/)
      .describe('The name of the content, as the first page has it.'),
    path: z.string().max(2_000).default('').describe('A JSON pointer, such as /rows/0; leave it out for the whole.'),
    from: z
      .int()
      .min(0)
      .optional()
      .describe('The line of a text, counted from 1; the item of a list or the member of an object, from 0.'),
    character: z.int().min(1).default(1).describe('In a line longer than a page, the character to begin at.'),
  }),
  output: z.record(z.string(), z.unknown()),
  effect: 'read_only',
  redaction: { whole: true },
  capabilities: ['results'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ content, path, from, character }, _context, { results }) =>
    results.page(content, { path, from: from ?? null, character }),
});
