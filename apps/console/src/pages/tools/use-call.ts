import { useEffect, useRef, useState } from 'react';
import type { AgentRequest, RunEvent, TriedCall, TriedToolset } from '@sluice/client';
import { noteError } from '../../data/reachability.js';
import { sluice } from '../../data/client.js';
import { reported } from '../../ui/format.js';

/** How far a call of the form is. */
export type Call =
  | { readonly kind: 'idle' }
  | { readonly kind: 'trying' }
  | { readonly kind: 'tried'; readonly tried: TriedCall; readonly toolset: TriedToolset }
  | ({ readonly kind: 'calling' } & Watched)
  | ({ readonly kind: 'ended' } & Watched)
  | { readonly kind: 'failed'; readonly error: Error };

/** What was seen of the run of a call. */
export interface Watched {
  readonly runId: string | null;
  /** The approval that it waits for. */
  readonly approvalId: string | null;
  readonly progress: string | null;
  readonly result: unknown;
  readonly isError: boolean | null;
  readonly answer: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const nothingSeen: Watched = {
  ...{ runId: null, approvalId: null, progress: null, result: undefined, isError: null, answer: null, error: null },
};

/** What is known after one more event of the run. */
export function seen(watched: Watched, event: RunEvent): Watched {
  switch (event.type) {
    case 'run':
      return { ...watched, runId: event.request_id };
    case 'tool_progress':
      return { ...watched, progress: reported(event) };
    case 'approval_requested':
      return { ...watched, approvalId: event.approval.approval_id };
    case 'approval_outcome':
      return { ...watched, approvalId: null };
    case 'tool_result':
      return { ...watched, result: event.result, isError: event.is_error };
    case 'end':
      return { ...watched, approvalId: null, answer: event.answer, error: event.error };
    default:
      return watched;
  }
}

/** The dry run and the call of a tool; leaving the page leaves the run as it is. */
export function useCall() {
  const [call, setCall] = useState<Call>({ kind: 'idle' });
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const begin = (work: (signal: AbortSignal) => Promise<void>): void => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    work(controller.signal).catch((error: unknown) => {
      if (controller.signal.aborted) return;
      noteError(error);
      setCall({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    });
  };
  const dryRun = (request: AgentRequest): void =>
    begin(async (signal) => {
      setCall({ kind: 'trying' });
      const toolset = await sluice.tools.tryToolset(request, { signal });
      const { call: tried } = toolset;
      if (tried === undefined) throw new Error('The gateway is older than this page. Upgrade it to make dry runs.');
      if (!signal.aborted) setCall({ kind: 'tried', tried, toolset });
    });
  const run = (request: AgentRequest): void =>
    begin(async (signal) => {
      let watched = nothingSeen;
      setCall({ kind: 'calling', ...watched });
      for await (const event of sluice.runs.stream(request, { signal })) {
        if (signal.aborted) return;
        watched = seen(watched, event);
        setCall({ kind: event.type === 'end' ? 'ended' : 'calling', ...watched });
      }
    });
  const clear = (): void => {
    current.current?.abort();
    setCall({ kind: 'idle' });
  };
  return { call, dryRun, run, stop: clear, clear };
}
