import { priorities } from '@sluice/tools';
import type { Priority, Status, Todo, TodoList } from '@sluice/tools';
import { ToolUserError } from '@sluice/core';

const todoLimits = { todos: 100, archives: 1_000, taskCharacters: 200 } as const;
export const emptyList: TodoList = { nextId: 1, todos: [], archives: [], done: [] };

const callsRemembered = 20;

/** The result of the call if it was made before. */
export function gave(list: TodoList, call: string): number | undefined {
  return list.done.find((each) => each.call === call)?.gave;
}

/** Throws ToolUserError if there is no room or the task says nothing. */
export function added(
  list: TodoList,
  given: { readonly task: string; readonly priority: Priority },
  call: string,
): TodoList {
  if (list.todos.length >= todoLimits.todos) {
    throw new ToolUserError(
      `The list has ${todoLimits.todos} tasks, which is the most. Archive it with archive_and_reset.`,
    );
  }
  const task = given.task
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim();
  if (task === '') throw new ToolUserError('Say what is to be done: the task is empty.');
  const id = list.nextId;
  const todo: Todo = { id, task, priority: given.priority, status: 'pending' };
  return { ...remembered(list, call, id), nextId: id + 1, todos: [...list.todos, todo] };
}

/** Throws ToolUserError if there is no such task. */
export function marked(list: TodoList, id: number, status: Status): TodoList {
  if (requireTodo(list, id).status === status) return list;
  return { ...list, todos: list.todos.map((todo) => (todo.id === id ? { ...todo, status } : todo)) };
}

/**
 * The list cleared, its tasks being archived as those of `version`. Throws ToolUserError if there is nothing to
 * archive, or no room.
 */
export function cleared(list: TodoList, version: number, call: string): TodoList {
  if (list.todos.length === 0) throw new ToolUserError('There is nothing to archive: the list is empty.');
  if (list.archives.length >= todoLimits.archives) {
    throw new ToolUserError(
      `The session has ${todoLimits.archives} archived lists, which is the most. Go on with this list.`,
    );
  }
  const archives = [...list.archives, version];
  return { ...remembered(list, call, archives.length), todos: [], archives };
}

export function requireTodo(list: TodoList, id: number): Todo {
  const todo = list.todos.find((each) => each.id === id);
  if (todo !== undefined) return todo;
  throw new ToolUserError(`There is no task ${id} in the list. list_todos shows all with their ids.`);
}

/** The pending task of the highest priority, the oldest of several. */
export function nextTodo({ todos }: TodoList): Todo | null {
  const pending = todos.filter((todo) => todo.status === 'pending');
  const first = priorities.find((priority) => pending.some((todo) => todo.priority === priority));
  return pending.find((todo) => todo.priority === first) ?? null;
}

/** How many tasks have the status. */
export function countOf({ todos }: TodoList, status: Status): number {
  return todos.filter((todo) => todo.status === status).length;
}

function remembered(list: TodoList, call: string, gave: number): TodoList {
  return { ...list, done: [...list.done, { call, gave }].slice(-callsRemembered) };
}
