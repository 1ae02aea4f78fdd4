import { z } from 'zod';
import { searchToolsType } from '@sluice/core';
import { defineTool } from '@sluice/tools';

export const searchForTools = defineTool({
  type: searchToolsType,
  description:
    'Find tools that are not shown yet. Call it first when none of the tools shown does what is needed: the tools that it finds can be ' +
    'called from your next turn on.',
  shortDescription: 'Find tools that are not shown yet, to call them from the next turn on.',
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(2_000)
      .describe(
        'What to look for in names, descriptions and parameters of tools: a regular expression without regard to case, such as ' +
          '"file|directory", or a few words.',
      ),
  }),
  output: z.object({
    tools: z.array(z.object({ name: z.string(), description: z.string() })),
    by: z.enum(['regex', 'keywords', 'blank', 'api', 'all']),
    fail_open: z.string().nullable(),
    note: z.string(),
  }),
  effect: 'read_only',
  redaction: { fields: ['tools', 'by', 'fail_open', 'note'] },
  capabilities: ['toolsets'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ query }, _context, { toolsets }) => toolsets.search(query),
});
