import { z } from 'zod';
import { defineTool } from '@sluice/tools';
import { todo, todoId } from './shape.js';

export const startTodo = defineTool({
  type: 'start_todo',
  description: 'Mark a task as in progress. Example: { "id": 3 }.',
  shortDescription: 'Mark a task of the to-do list as in progress by its number, when you begin to work on it.',
  category: 'todo',
  input: z.object({ id: todoId }),
  output: todo,
  effect: 'state_change',
  redaction: { fields: ['id', 'task', 'priority', 'status'] },
  capabilities: ['todos'],
  repeatable: true,
  requiresConnection: false,
  execute: ({ id }, _context, { todos }) => todos.mark(id, 'in_progress'),
});
