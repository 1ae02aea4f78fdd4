import { Fault, ToolOutcomeLostError, ToolUnavailableError } from '@sluice/core';
import type { Documents } from '@sluice/core';
import type { ChangeJournal, JournalEntry } from './journal.js';

/** How many entries are asked for at once while there are more. */
const portion = 50;

/** A journal in documents that every replica sees, an entry each: of those who write the same one, the first wins. */
export function journalIn(documents: Documents): ChangeJournal {
  const keyOf = (position: number): string => `graph/${position}`;
  const read = async (position: number): Promise<JournalEntry | undefined> => {
    const stored = await documents.find(keyOf(position)).catch(unreadable);
    return stored === undefined ? undefined : (JSON.parse(stored.text) as JournalEntry);
  };
  return {
    after: async (seen) => {
      const next = await read(seen + 1);
      // Mostly there is none, which one question tells.
      if (next === undefined) return [];
      const more = await Promise.all(Array.from({ length: portion - 1 }, (_, index) => read(seen + 2 + index)));
      const end = more.indexOf(undefined);
      return [next, ...(more.slice(0, end === -1 ? more.length : end) as JournalEntry[])];
    },
    append: (seen, entry) => documents.put(keyOf(seen + 1), 1, JSON.stringify(entry), null).catch(lost),
    close: () => Promise.resolve(),
  };
}

function unreadable(error: unknown): never {
  if (!(error instanceof Fault)) throw error;
  throw new ToolUnavailableError('The knowledge graph cannot be reached.', { cause: error });
}

function lost(error: unknown): never {
  if (!(error instanceof Fault)) throw error;
  throw new ToolOutcomeLostError('The knowledge graph could not be reached while it was changed.', { cause: error });
}
