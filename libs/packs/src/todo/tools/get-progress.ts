import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const getProgress = defineTool({
  type: 'get_progress',
  description:
    'Tell how many tasks the list has, how many are pending, in progress and completed, and the percentage completed.',
  shortDescription:
    'Count the tasks of the to-do list by status and get the percentage that is completed, to report progress.',
  category: 'todo',
  input: z.object({}),
  output: z.object({
    total: z.int(),
    pending: z.int(),
    in_progress: z.int(),
    completed: z.int(),
    percent: z.int().min(0).max(100),
  }),
  effect: 'read_only',
  redaction: { fields: ['total', 'pending', 'in_progress', 'completed', 'percent'] },
  capabilities: ['todos'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { todos }) => {
    const list = (await todos.current()).todos;
    const count = (status: string): number => list.filter((todo) => todo.status === status).length;
    const completed = count('completed');
    return {
      total: list.length,
      pending: count('pending'),
      in_progress: count('in_progress'),
      completed,
      percent: list.length === 0 ? 0 : Math.floor((100 * completed) / list.length),
    };
  },
});
