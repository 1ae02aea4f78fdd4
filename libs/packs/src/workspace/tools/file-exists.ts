import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const fileExists = defineTool({
  type: 'file_exists',
  description:
    'Tell whether there is something at a path of the workspace, and whether it is a file or a directory. ' +
    'Example: { "path": "notes/plan.md" }.',
  shortDescription:
    'Check whether a path exists in the workspace, and whether it is a file or a directory, before using it.',
  category: 'workspace',
  input: z.object({ path: z.string().describe('Path inside the workspace, such as notes/plan.md.') }),
  output: z.object({ exists: z.boolean(), kind: z.enum(['file', 'directory']).optional() }),
  effect: 'read_only',
  redaction: { fields: ['exists', 'kind'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path }, _context, { workspace }) => {
    const kind = await workspace.kindOf(path);
    return kind === null ? { exists: false } : { exists: true, kind };
  },
});
