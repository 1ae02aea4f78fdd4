import { ProblemError } from '@sluice/client';
import type { ListRunsQuery, RunChange } from '@sluice/client';
import { useEffect, useState } from 'react';
import { sluice } from '../../data/client.js';
import { noteError } from '../../data/reachability.js';
import { session } from '../../session/session.js';
import { laterWith } from './newest.js';
import type { Later } from './newest.js';

/** What comes within so many milliseconds is drawn at once. */
const drawMs = 200;
const retryMs = 2_000;
const nothing: Later = { runs: [], left: new Set() };

/** What changes in the list from now on; the page follows it for as long as it shows it. */
export function useChanges(query: Omit<ListRunsQuery, 'cursor'>, isOn: boolean): Later {
  const [later, setLater] = useState(nothing);
  const key = JSON.stringify(query);
  useEffect(() => {
    if (!isOn) return undefined;
    const leaving = new AbortController();
    setLater(nothing);
    const take = (changes: readonly RunChange[]): void => setLater((known) => laterWith(known, changes));
    void follow(JSON.parse(key) as typeof query, leaving.signal, take);
    return () => leaving.abort();
  }, [key, isOn]);
  return later;
}

async function follow(
  query: Omit<ListRunsQuery, 'cursor'>,
  signal: AbortSignal,
  take: (changes: readonly RunChange[]) => void,
): Promise<void> {
  let waiting: RunChange[] = [];
  const draw = (): void => {
    if (signal.aborted) return;
    take(waiting);
    waiting = [];
  };
  while (!signal.aborted) {
    try {
      for await (const change of sluice.runs.changes(query, { signal })) {
        if (waiting.push(change) === 1) setTimeout(draw, drawMs);
      }
    } catch (error) {
      if (signal.aborted) return;
      noteError(error);
      if (error instanceof ProblemError && error.status === 401) session.expire(error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}
