import { z } from 'zod';
import { defineTool } from '@sluice/tools';
import { todo } from './shape.js';

export const addTodo = defineTool({
  type: 'add_todo',
  description: 'Add a task to the list, as pending. Example: { "task": "Compare the two offers", "priority": "high" }.',
  shortDescription: 'Add a task to the to-do list, when work has to be planned or a new piece of work turns up.',
  category: 'todo',
  input: z.object({
    task: z.string().min(1).max(200).describe('What is to be done, in one sentence of at most 200 characters.'),
    priority: z.enum(['high', 'medium', 'low']).default('medium').describe('How much it matters: high, medium or low.'),
  }),
  output: todo,
  effect: 'state_change',
  redaction: { fields: ['id', 'task', 'priority', 'status'] },
  capabilities: ['todos', 'idempotency'],
  repeatable: true,
  requiresConnection: false,
  execute: ({ task, priority }, _context, { todos, idempotency }) => todos.add(task, priority, idempotency.key),
});
