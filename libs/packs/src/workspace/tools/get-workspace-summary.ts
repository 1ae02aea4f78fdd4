import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const getWorkspaceSummary = defineTool({
  type: 'get_workspace_summary',
  description: 'Tell how many files and directories the workspace has, and how many bytes they take.',
  shortDescription:
    'Get how many files and directories the workspace holds and how many bytes they take, for an overview.',
  category: 'workspace',
  input: z.object({}),
  output: z.object({ files: z.int(), directories: z.int(), bytes: z.int() }),
  effect: 'read_only',
  redaction: { fields: ['files', 'directories', 'bytes'] },
  capabilities: ['workspace'],
  repeatable: true,
  requiresConnection: false,
  execute: (_args, _context, { workspace }) => workspace.usage(),
});
