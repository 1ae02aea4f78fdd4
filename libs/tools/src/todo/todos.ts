import { Fault, ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Documents, StoredDocument } from '@sluice/core';
import { added, cleared, countOf, emptyList, gave, marked, nextTodo, requireTodo } from './todo-list.js';
import type { Priority, Status, Todo, TodoList } from './todo-list.js';

/**
 * The tasks of one session (spec/tool-descriptions.md, Todo Tools). `call` names the call: the same one again changes nothing more. Throws
 * ToolUserError for what the caller can mend, ToolUnavailableError if the store cannot be read, and ToolOutcomeLostError if it
 * broke off while a change was written.
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

/** How often a change is tried while others change the same list. */
const attempts = 50;

/** The tasks of a session, by `sessionKey`, in documents that every replica sees. */
export function todosIn(documents: Documents, session: string): Todos {
  const key = `todo/${session}`;
  const archiveKey = (version: number): string => `${key}/${version}`;

  const current = async (): Promise<{ readonly list: TodoList; readonly version: number }> => {
    const stored = await read(documents, key);
    if (stored === undefined) return { list: emptyList, version: 0 };
    return { list: JSON.parse(stored.text) as TodoList, version: stored.version };
  };

  /** Writes what the change makes of the list; a list that stays as it is is not written. Returns the list then in force. */
  const change = async (make: (list: TodoList, version: number) => TodoList | Promise<TodoList>): Promise<TodoList> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { list, version } = await current();
      const next = await make(list, version);
      if (next === list || (await write(documents, key, version + 1, JSON.stringify(next)))) return next;
    }
    throw new ToolUnavailableError('The list of tasks is being changed by others.');
  };

  return {
    current: async () => (await current()).list,
    next: async () => {
      const { list } = await current();
      return { next: nextTodo(list), pending: countOf(list, 'pending') };
    },
    archived: async (archive) => {
      const { list } = await current();
      const version = list.archives[archive - 1];
      const stored = version === undefined ? undefined : await read(documents, archiveKey(version));
      if (stored !== undefined) return JSON.parse(stored.text) as Todo[];
      throw new ToolUserError(
        `There is no archived list ${archive}. There are ${list.archives.length}, numbered from 1.`,
      );
    },
    add: async (task, priority, call) => {
      const list = await change((before) =>
        gave(before, call) === undefined ? added(before, { task, priority }, call) : before,
      );
      return requireTodo(list, gave(list, call) as number);
    },
    mark: async (id, status) => requireTodo(await change((list) => marked(list, id, status)), id),
    archive: async (call) => {
      const list = await change(async (before, version) => {
        if (gave(before, call) !== undefined) return before;
        const after = cleared(before, version, call);
        // The archive first: whoever archives the same version writes the same, and until the list is cleared it counts for nothing.
        await write(documents, archiveKey(version), 1, JSON.stringify(before.todos));
        return after;
      });
      return gave(list, call) as number;
    },
  };
}

async function read(documents: Documents, key: string): Promise<StoredDocument | undefined> {
  try {
    return await documents.find(key);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new ToolUnavailableError('The list of tasks cannot be reached.', { cause: error });
  }
}

async function write(documents: Documents, key: string, version: number, text: string): Promise<boolean> {
  try {
    return await documents.put(key, version, text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new ToolOutcomeLostError('The list of tasks could not be reached while it was written.', { cause: error });
  }
}
