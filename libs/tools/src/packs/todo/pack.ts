import { addTodo } from './add-todo.js';
import { archiveAndReset } from './archive-and-reset.js';
import { completeTodo } from './complete-todo.js';
import { getNextTodo } from './get-next-todo.js';
import { getProgress } from './get-progress.js';
import { listTodos } from './list-todos.js';
import { startTodo } from './start-todo.js';

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
