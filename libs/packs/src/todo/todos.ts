import type { Todo, TodoList, Todos } from '@sluice/tools';
import { Fault, ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Documents, StoredDocument } from '@sluice/core';
import type { SessionLife } from '../session.js';
import { added, cleared, countOf, emptyList, gave, marked, nextTodo, requireTodo } from './todo-list.js';

/** How often a change is tried while others change the same list. */
const attempts = 50;

/**
 * The tasks of a session, by `sessionKey`, in documents that every replica sees. They go with the session's life: the
 * list behind its last use, an archived list behind the time when it was archived.
 */
export function todosIn(documents: Documents, session: string, { clock, keptMs }: SessionLife): Todos {
  const key = `todo/${session}`;
  const archiveKey = (version: number): string => `${key}/${version}`;

  const mayGo = (): number | null => (keptMs === null ? null : clock.now() + keptMs);

  const current = async (): Promise<{ readonly list: TodoList; readonly version: number }> => {
    const stored = await read(documents, key);
    return { list: listOf(stored), version: stored?.version ?? 0 };
  };

  /** The list for reading only, which is a use as well. */
  const looked = async (): Promise<TodoList> => {
    const stored = await read(documents, key);
    if (stored !== undefined && isAging(stored, mayGo(), keptMs))
      await write(documents, { key, version: stored.version, text: stored.text, expiresAt: mayGo() });
    return listOf(stored);
  };

  /** Writes the text whatever stands there, which is something only where a list that is gone since had left it. */
  const put = async (at: string, text: string): Promise<void> => {
    const before = await read(documents, at);
    const version = before === undefined ? 1 : before.version + (before.text === text ? 0 : 1);
    await write(documents, { key: at, version, text, expiresAt: mayGo() });
  };

  /**
   * Writes what the change makes of the list; a list that stays as it is is not written. Returns the list then in
   * force.
   */
  const change = async (make: (list: TodoList, version: number) => TodoList | Promise<TodoList>): Promise<TodoList> => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { list, version } = await current();
      const next = await make(list, version);
      if (
        next === list ||
        (await write(documents, { key, version: version + 1, text: JSON.stringify(next), expiresAt: mayGo() }))
      )
        return next;
    }
    throw new ToolUnavailableError('The list of tasks is being changed by others.');
  };

  return {
    current: looked,
    next: async () => {
      const list = await looked();
      return { next: nextTodo(list), pending: countOf(list, 'pending') };
    },
    archived: async (archive) => {
      const list = await looked();
      const version = list.archives[archive - 1];
      if (version === undefined) {
        throw new ToolUserError(
          `There is no archived list ${archive}. There are ${list.archives.length}, numbered from 1.`,
        );
      }
      const stored = await read(documents, archiveKey(version));
      if (stored === undefined) throw new ToolUserError(`The archived list ${archive} is no longer kept.`);
      return JSON.parse(stored.text) as Todo[];
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
        // The archive first: archiving the same version twice writes the same, and until the list is cleared it
        // counts for nothing.
        await put(archiveKey(version), JSON.stringify(before.todos));
        return after;
      });
      return gave(list, call) as number;
    },
  };
}

function listOf(stored: StoredDocument | undefined): TodoList {
  return stored === undefined ? emptyList : (JSON.parse(stored.text) as TodoList);
}

/** Whether a tenth of its time has gone since it was written, so that not every look is a write. */
function isAging({ expiresAt }: StoredDocument, mayGo: number | null, keptMs: number | null): boolean {
  return mayGo === null || keptMs === null ? expiresAt !== null : expiresAt === null || mayGo - expiresAt > keptMs / 10;
}

async function read(documents: Documents, key: string): Promise<StoredDocument | undefined> {
  try {
    return await documents.find(key);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new ToolUnavailableError('The list of tasks cannot be reached.', { cause: error });
  }
}

async function write(
  documents: Documents,
  { key, version, text, expiresAt }: StoredDocument & { readonly key: string },
): Promise<boolean> {
  try {
    return await documents.put(key, version, text, expiresAt);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new ToolOutcomeLostError('The list of tasks could not be reached while it was written.', { cause: error });
  }
}
