import { z } from 'zod';
import { loadToolsetType } from '@sluice/core';
import { defineTool } from '@sluice/tools';

export const loadToolset = defineTool({
  type: loadToolsetType,
  description:
    'Bring in all tools of a group, which you can call from your next turn on. Load a group as soon as the task needs it; a group that is ' +
    'loaded stays so.',
  shortDescription:
    'Bring in all tools of a group, to call them from the next turn on, as soon as the task needs them.',
  input: z.object({ group: z.string().min(1).max(200).describe('The name of the group, as the list has it.') }),
  output: z.object({
    group: z.string(),
    tools: z.array(z.object({ name: z.string(), description: z.string() })),
    total: z.int(),
  }),
  effect: 'read_only',
  redaction: { fields: ['group', 'tools', 'total'] },
  capabilities: ['toolsets'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ group }, _context, { toolsets }) => toolsets.load(group),
});
