export const priorities = ['high', 'medium', 'low'] as const;

export type Priority = (typeof priorities)[number];

export type Status = 'pending' | 'in_progress' | 'completed';

export interface Todo {
  /** From 1; never given twice in a session. */
  readonly id: number;
  readonly task: string;
  readonly priority: Priority;
  readonly status: Status;
}

/** A session’s list as it is stored: plain JSON. */
export interface TodoList {
  readonly nextId: number;
  /** In the order of their ids. */
  readonly todos: readonly Todo[];
  /** The versions of the stored list in which a list was archived, oldest first. */
  readonly archives: readonly number[];
  /** The last calls that must not count twice, newest last, with the id or archive that came of each. */
  readonly done: readonly { readonly call: string; readonly gave: number }[];
}

/**
 * The tasks of one session. `call` names the call: the same one again changes nothing more. Throws ToolUserError for
 * what the caller can mend, ToolUnavailableError if the store cannot be read, and ToolOutcomeLostError if it broke
 * off while a change was written.
 */
export interface Todos {
  current(): Promise<TodoList>;
  /** What to do next, null if nothing is pending, and how many tasks are pending. */
  next(): Promise<{ readonly next: Todo | null; readonly pending: number }>;
  /** A list archived before, by its number from 1. */
  archived(archive: number): Promise<readonly Todo[]>;
  add(task: string, priority: Priority, call: string): Promise<Todo>;
  mark(id: number, status: Status): Promise<Todo>;
  /** Archives the list under the returned number and clears it. */
  archive(call: string): Promise<number>;
}
