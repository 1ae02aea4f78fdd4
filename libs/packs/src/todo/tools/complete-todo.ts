import { z } from 'zod';
import { defineTool } from '@sluice/tools';
import { todo, todoId } from './shape.js';

export const completeTodo = defineTool({
  type: 'complete_todo',
  description: 'Mark a task as completed. Example: { "id": 3 }.',
  shortDescription: 'Mark a task of the to-do list as completed by its number, as soon as its work is done.',
  category: 'todo',
  input: z.object({ id: todoId }),
  output: todo,
  effect: 'state_change',
  redaction: { fields: ['id', 'task', 'priority', 'status'] },
  capabilities: ['todos'],
  repeatable: true,
  requiresConnection: false,
  execute: ({ id }, _context, { todos }) => todos.mark(id, 'completed'),
});
