import { z } from 'zod';
import { defineTool } from '@sluice/tools';

/** Matches of one answer: with the longest paths it stays under 32 KB. */
const mostMatches = 30;

export const searchFiles = defineTool({
  type: 'search_files',
  description:
    `Find a text in the files of the workspace, upper and lower case alike. Returns the lines that hold it, at most ${mostMatches}, with file, ` +
    'line number and the offset to read on from; truncated says that there may be more. Example: { "text": "deadline", "path": "notes" }.',
  shortDescription:
    'Search the workspace files for a text and get the matching lines, when you do not know which file holds it.',
  category: 'workspace',
  input: z.object({
    text: z
      .string()
      .min(1)
      .max(200)
      .describe('The text to look for, as it stands; not a pattern, and within one line.'),
    path: z.string().default('').describe('A directory or file to search in; left out, the whole workspace.'),
  }),
  output: z.object({
    matches: z.array(z.object({ path: z.string(), line: z.int(), offset: z.int(), text: z.string() })),
    truncated: z.boolean(),
  }),
  effect: 'read_only',
  redaction: { fields: ['matches', 'truncated'] },
  capabilities: ['workspace', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ text, path }, _context, { workspace, cancellation }) => {
    const { matches, truncated } = await workspace.search(text, path, mostMatches, cancellation.signal);
    return { matches: [...matches], truncated };
  },
});
