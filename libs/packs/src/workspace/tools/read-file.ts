import { z } from 'zod';
import { defineTool } from '@sluice/tools';

/** UTF-8 bytes of one part. As JSON text may be twice as long, and 32,768 bytes is the most a result may have. */
const longestPart = 15_000;

export const readFile = defineTool({
  type: 'read_file',
  description:
    `Read a text file of the workspace. A long file comes in parts of at most ${longestPart} bytes: go on at next_offset while there is one. ` +
    'Example: { "path": "notes/plan.md" }.',
  shortDescription:
    'Read the content of a text file in the workspace, in parts if it is long, whenever you need what is in it.',
  category: 'workspace',
  input: z.object({
    path: z.string().describe('Path of the file inside the workspace, such as notes/plan.md.'),
    offset: z.int().min(0).default(0).describe('Byte to begin at: 0, or the next_offset of the part before.'),
    limit: z
      .int()
      .min(4)
      .max(longestPart)
      .default(longestPart)
      .describe(`How many bytes to read at most, up to ${longestPart}.`),
  }),
  output: z.object({
    text: z.string(),
    offset: z.int(),
    size: z.int(),
    next_offset: z.int().optional(),
  }),
  effect: 'read_only',
  redaction: { fields: ['text', 'offset', 'size', 'next_offset'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, offset, limit }, _context, { workspace }) => {
    const part = await workspace.read(path, offset, limit);
    const next = part.nextOffset === null ? {} : { next_offset: part.nextOffset };
    return { text: part.text, offset: part.offset, size: part.size, ...next };
  },
});
