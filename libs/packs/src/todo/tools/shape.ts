import { z } from 'zod';

/** A task as the tools show it. */
export const todo = z.object({
  id: z.int(),
  task: z.string(),
  priority: z.enum(['high', 'medium', 'low']),
  status: z.enum(['pending', 'in_progress', 'completed']),
});

/** The id as the tools take it. */
export const todoId = z.int().min(1).describe('The id of the task, as list_todos shows it.');
