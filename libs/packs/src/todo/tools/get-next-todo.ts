import { z } from 'zod';
import { defineTool } from '@sluice/tools';
import { todo } from './shape.js';

export const getNextTodo = defineTool({
  type: 'get_next_todo',
  description:
    'Tell the pending task to do next: of those with the highest priority the one that was added first. There is no todo in the result if none is pending.',
  shortDescription: 'Get the most urgent pending task of the to-do list, when you decide what to do next.',
  category: 'todo',
  input: z.object({}),
  output: z.object({ todo: todo.optional(), pending: z.int() }),
  effect: 'read_only',
  redaction: { fields: ['todo', 'pending'] },
  capabilities: ['todos'],
  repeatable: true,
  requiresConnection: false,
  execute: async (_args, _context, { todos }) => {
    const { next, pending } = await todos.next();
    return { ...(next === null ? {} : { todo: next }), pending };
  },
});
