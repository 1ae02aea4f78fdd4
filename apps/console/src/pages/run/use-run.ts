import { ProblemError } from '@sluice/client';
import type { ListedRun, Run, VerdictList } from '@sluice/client';
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sluice } from '../../data/client.js';
import { queries } from '../../data/queries.js';
import { noteError } from '../../data/reachability.js';
import { session } from '../../session/session.js';
import type { RunSearch } from './search.js';
import { RunTimeline } from './timeline/model.js';

/** Names a run, with what finds it before the index has it. */
export interface RunAddress {
  readonly requestId: string;
  readonly session?: string | undefined;
  readonly since?: string | number | undefined;
  readonly tenant?: string | undefined;
}

export const addressOf = (requestId: string, { session, since, tenant }: RunSearch): RunAddress => ({
  ...{ requestId, session, since, tenant },
});

export const queryOf = ({ session, since, tenant }: RunAddress) => ({
  ...(session === undefined ? {} : { session_id: session }),
  ...(since === undefined || session === undefined ? {} : { since }),
  ...(tenant === undefined ? {} : { tenant }),
});

export function pathOf(place: RunAddress): string {
  const entries = Object.entries(queryOf(place)).map(([name, value]) => [name, String(value)]);
  const query = new URLSearchParams(entries).toString();
  return `/v1/runs/${encodeURIComponent(place.requestId)}${query === '' ? '' : `?${query}`}`;
}

/** The run as JSON, read again while it goes on; a long one less often, as it has every call. */
export function useRun(place: RunAddress): UseQueryResult<Run> {
  return useQuery({
    queryKey: ['run', place],
    queryFn: ({ signal }) => sluice.runs.get(pathOf(place), { signal }),
    refetchInterval: ({ state: { data } }) =>
      data?.status === 'ended' || data === undefined ? false : Math.max(2_000, data.tool_calls.length * 2),
  });
}

/** So many pages of its session are searched for the run. */
const mostPages = 10;

/** What the list says of the run: its question, who asked, when it began. Null where the list does not have it. */
export function useListed({ requestId, tenant }: RunAddress, run: Run | undefined): UseQueryResult<ListedRun | null> {
  return useQuery({
    queryKey: ['run', requestId, 'listed', run?.status],
    enabled: run !== undefined,
    queryFn: async ({ signal }) => {
      const query = { session_id: run?.session_id ?? '', limit: 200, ...(tenant === undefined ? {} : { tenant }) };
      let pages = 0;
      for await (const { items } of sluice.runs.list(query, { signal }).pages()) {
        const found = items.find(({ request_id: id }) => id === requestId);
        if (found !== undefined) return found;
        if (++pages === mostPages) break;
      }
      return null;
    },
    refetchInterval: ({ state: { data } }) => (data == null || data.status === 'running' ? 2_000 : false),
  });
}

/** Every tool’s verdict, read again with each iteration that begins. */
export function useVerdicts(place: RunAddress, iterations: number): UseQueryResult<VerdictList> {
  const { requestId } = place;
  return useQuery({
    queryKey: ['run', requestId, 'verdicts', iterations],
    queryFn: ({ signal }) => sluice.runs.verdicts(requestId, queryOf(place), { signal }),
    enabled: iterations > 0,
    placeholderData: (earlier) => earlier,
  });
}

export interface Followed {
  readonly timeline: RunTimeline;
  /** Changes with what is known, so that what is made of the timeline is made again. */
  readonly revision: number;
  readonly error: Error | null;
}

/** What comes within so many milliseconds is drawn at once; of a long run, what comes in more. */
const drawMs = 120;
const retryMs = 2_000;
const eventsAtOnce = 500;

/** The run’s events, from its beginning to its end, in one object that grows. */
export function useFollowed(place: RunAddress): Followed {
  const { requestId, session: sessionId, since, tenant } = place;
  const [followed, setFollowed] = useState<Followed>(() => fresh(requestId));
  useEffect(() => {
    const leaving = new AbortController();
    setFollowed(fresh(requestId));
    void follow({ requestId, session: sessionId, since, tenant }, leaving.signal, setFollowed);
    return () => leaving.abort();
  }, [requestId, sessionId, since, tenant]);
  return followed;
}

const fresh = (requestId: string): Followed => ({ timeline: new RunTimeline(requestId), revision: 0, error: null });

async function follow(place: RunAddress, signal: AbortSignal, show: (followed: Followed) => void): Promise<void> {
  while (!signal.aborted) {
    const timeline = new RunTimeline(place.requestId);
    let timer: ReturnType<typeof setTimeout> | null = null;
    const draw = (error: Error | null = null): void => {
      timer = null;
      if (!signal.aborted) show({ timeline, revision: timeline.revision, error });
    };
    try {
      for await (const event of sluice.runs.follow(pathOf(place), { signal })) {
        timeline.apply(event, Date.now());
        // A long run comes in one piece; the page draws and listens meanwhile.
        if (timeline.revision % eventsAtOnce === 0) await new Promise((resolve) => setTimeout(resolve));
        timer ??= setTimeout(draw, Math.max(drawMs, timeline.calls.size / 4));
      }
      if (timer !== null) clearTimeout(timer);
      draw();
      void queries.invalidateQueries({ queryKey: ['run'] });
      return;
    } catch (error) {
      if (timer !== null) clearTimeout(timer);
      if (signal.aborted) return;
      noteError(error);
      if (error instanceof ProblemError) {
        if (error.status === 401) session.expire(error.message);
        if (error.status < 500 && error.status !== 429) return draw(error);
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
