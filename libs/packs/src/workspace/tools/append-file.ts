import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const appendFile = defineTool({
  type: 'append_file',
  description:
    'Add text to the end of a file of the workspace; makes the file if it is not there. A call takes about 8,000 bytes. ' +
    'Example: { "path": "notes/log.md", "text": "- done\\n" }.',
  shortDescription: 'Add text to the end of a workspace file, to keep a log or to write a long text piece by piece.',
  category: 'workspace',
  input: z.object({
    path: z.string().describe('Path of the file inside the workspace, such as notes/log.md.'),
    text: z.string().min(1).describe('What to add at the end, with the line breaks it needs.'),
  }),
  output: z.object({ size: z.int(), created: z.boolean() }),
  effect: 'state_change',
  redaction: { fields: ['size', 'created'] },
  capabilities: ['workspace'],
  // Twice would be there twice: after a crash the model is asked to look before it goes on.
  repeatable: false,
  requiresConnection: false,
  execute: ({ path, text }, _context, { workspace }) => workspace.append(path, text),
});
