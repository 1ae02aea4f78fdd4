import { z } from 'zod';
import { defineTool } from '@sluice/tools';

/** Entries of one answer: with the longest names it stays under 32 KB. */
const mostEntries = 100;

export const listFiles = defineTool({
  type: 'list_files',
  description:
    `List what is in a directory of the workspace, sorted by name, at most ${mostEntries} entries from offset on. ` +
    'Example: { "path": "notes" }.',
  shortDescription:
    'List the files and directories in a directory of the workspace, to see what is there and how large it is.',
  category: 'workspace',
  input: z.object({
    path: z.string().default('').describe('The directory inside the workspace; left out, the workspace itself.'),
    offset: z.int().min(0).default(0).describe('How many entries to leave out at the beginning.'),
  }),
  output: z.object({
    entries: z.array(z.object({ name: z.string(), kind: z.enum(['file', 'directory']), bytes: z.int() })),
    total: z.int(),
  }),
  effect: 'read_only',
  redaction: { fields: ['entries', 'total'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, offset }, _context, { workspace }) => {
    const { entries, total } = await workspace.list(path, offset, mostEntries);
    return { entries: [...entries], total };
  },
});
