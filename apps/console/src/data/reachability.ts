import { ConnectionError } from '@sluice/client';
import { useSyncExternalStore } from 'react';
import { queries } from './queries.js';

/** Whether the gateway answers: pages say so while it does not, and read everything again once it does. */
const checkMs = 2_000;
let isAway = false;
const listeners = new Set<() => void>();

function set(away: boolean): void {
  if (away === isAway) return;
  isAway = away;
  for (const listener of listeners) listener();
  if (away) void waitForAnswer();
  else void queries.invalidateQueries();
}

async function waitForAnswer(): Promise<void> {
  while (isAway) {
    await new Promise((resolve) => setTimeout(resolve, checkMs));
    try {
      const response = await fetch('/v1/console', { signal: AbortSignal.timeout(checkMs) });
      if (response.status < 500) set(false);
    } catch {
      // It is still away.
    }
  }
}

/** A stream or a request found no gateway. */
export function noteError(error: unknown): void {
  if (error instanceof ConnectionError) set(true);
}

queries.getQueryCache().subscribe((event) => {
  if (event.type === 'updated' && event.action.type === 'failed') noteError(event.action.error);
});

export function useIsAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isAway,
  );
}
