import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const deleteFile = defineTool({
  type: 'delete_file',
  description:
    'Delete a file or an empty directory of the workspace. deleted is false if there was nothing at the path. ' +
    'Example: { "path": "notes/old.md" }.',
  shortDescription:
    'Delete a file or an empty directory of the workspace that is no longer needed. It cannot be undone.',
  category: 'workspace',
  input: z.object({
    path: z.string().describe('Path of the file or empty directory inside the workspace.'),
  }),
  output: z.object({ deleted: z.boolean() }),
  effect: 'state_change',
  redaction: { fields: ['deleted'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path }, _context, { workspace }) => ({ deleted: await workspace.remove(path) }),
});
