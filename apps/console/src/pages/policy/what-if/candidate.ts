import { useSyncExternalStore } from 'react';

/** The text that is tried, kept while one looks at other pages. It stays in this window. */
interface Candidate {
  /** The text in force that it was begun from. */
  readonly base: string;
  readonly text: string;
}

let current: Candidate | null = null;
const listeners = new Set<() => void>();

export function setCandidate(candidate: Candidate | null): void {
  current = candidate;
  for (const listener of listeners) listener();
}

/** The candidate of this text in force; one of an older text is kept as it is. */
export function useCandidate(base: string): Candidate {
  const kept = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
  return kept ?? { base, text: base };
}
