import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const archiveAndReset = defineTool({
  type: 'archive_and_reset',
  description:
    'Put the whole list away, whatever the status of its tasks, and begin with an empty one. ' +
    'Returns the number under which list_todos shows it.',
  shortDescription: 'Archive the whole to-do list and begin an empty one, when a phase of the work is over.',
  category: 'todo',
  input: z.object({}),
  output: z.object({ archive: z.int() }),
  effect: 'state_change',
  redaction: { fields: ['archive'] },
  capabilities: ['todos', 'idempotency'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { todos, idempotency }) => ({ archive: await todos.archive(idempotency.key) }),
});
