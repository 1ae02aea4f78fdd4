import { addTodo } from './tools/add-todo.js';
import { archiveAndReset } from './tools/archive-and-reset.js';
import { completeTodo } from './tools/complete-todo.js';
import { getNextTodo } from './tools/get-next-todo.js';
import { getProgress } from './tools/get-progress.js';
import { listTodos } from './tools/list-todos.js';
import { startTodo } from './tools/start-todo.js';

/** The tasks of a session (D-T09 to D-T15). */
export const todoTools = [
  addTodo,
  completeTodo,
  startTodo,
  listTodos,
  getProgress,
  archiveAndReset,
  getNextTodo,
] as const;
