import { z } from 'zod';
import { defineTool } from '@sluice/tools';
import { todo } from './shape.js';

/** Tasks of one answer: with the longest tasks it stays under 32 KB. */
const mostTodos = 40;

export const listTodos = defineTool({
  type: 'list_todos',
  description:
    `List the tasks, whatever their status, in the order in which they were added, at most ${mostTodos} from offset on. ` +
    'archives tells how many earlier lists there are; give one’s number to read it. Example: { "archive": 1 }.',
  shortDescription:
    'List all tasks of the to-do list with their status, or read an archived list from an earlier phase.',
  category: 'todo',
  input: z.object({
    offset: z.int().min(0).default(0).describe('How many tasks to leave out at the beginning.'),
    archive: z.int().min(1).optional().describe('The number of an archived list, from 1; left out, the current list.'),
  }),
  output: z.object({ todos: z.array(todo), total: z.int(), archives: z.int() }),
  effect: 'read_only',
  redaction: { fields: ['todos', 'total', 'archives'] },
  capabilities: ['todos'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ offset, archive }, _context, { todos }) => {
    const list = await todos.current();
    const all = archive === undefined ? list.todos : await todos.archived(archive);
    return { todos: [...all].slice(offset, offset + mostTodos), total: all.length, archives: list.archives.length };
  },
});
