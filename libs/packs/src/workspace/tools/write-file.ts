import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const writeFile = defineTool({
  type: 'write_file',
  description:
    'Write a text file of the workspace: makes it, with the directories above it, or replaces all that was in it. ' +
    'A call takes about 8,000 bytes; write the beginning of a longer text and add the rest with append_file. ' +
    'Example: { "path": "notes/plan.md", "text": "# Plan\\n" }.',
  shortDescription:
    'Write a text file in the workspace, or replace all of its content, to keep results and notes for later.',
  category: 'workspace',
  input: z.object({
    path: z.string().describe('Path of the file inside the workspace, such as notes/plan.md.'),
    text: z.string().describe('The whole new content of the file.'),
  }),
  output: z.object({ size: z.int(), created: z.boolean() }),
  effect: 'state_change',
  redaction: { fields: ['size', 'created'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: ({ path, text }, _context, { workspace }) => workspace.write(path, text),
});
