import type { WhatIfEvent } from '@sluice/client';
import { useEffect, useRef, useState } from 'react';
import { sluice } from '../../../data/client.js';
import { noteError } from '../../../data/reachability.js';
import { emptyReport, reported } from './report.js';
import type { WhatIfReport } from './report.js';

export type WhatIfState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly report: WhatIfReport }
  | { readonly kind: 'cancelled'; readonly report: WhatIfReport }
  | { readonly kind: 'done'; readonly report: WhatIfReport }
  | { readonly kind: 'failed'; readonly error: Error };

interface Question {
  readonly text: string;
  readonly since: string;
  /** The run that it is about; null for all. */
  readonly run: string | null;
}

/** Decisions that are listed; all are counted. */
const mostListed = 1_000;
/** What came is drawn so often, milliseconds. */
const drawEveryMs = 200;

/** Asks the gateway which recorded decisions would be otherwise; leaving the page ends it. */
export function useWhatIf() {
  const [state, setState] = useState<WhatIfState>({ kind: 'idle' });
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const start = async ({ text, since, run }: Question): Promise<void> => {
    current.current?.abort();
    const controller = new AbortController();
    current.current = controller;
    const { signal } = controller;
    let report = emptyReport;
    let events: WhatIfEvent[] = [];
    const draw = (kind: 'running' | 'done'): void => {
      report = reported(report, events, run);
      events = [];
      if (!signal.aborted) setState({ kind, report });
    };
    draw('running');
    const timer = setInterval(() => draw('running'), drawEveryMs);
    try {
      const session = run === null ? null : (await sluice.runs.get(run, { signal })).session_id;
      const body = { text, since, limit: mostListed, ...(session === null ? {} : { session_id: session }) };
      for await (const event of sluice.configurations.whatIfStream(body, { signal })) events.push(event);
      draw('done');
    } catch (error) {
      if (signal.aborted) return;
      noteError(error);
      setState({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    } finally {
      clearInterval(timer);
    }
  };
  const cancel = (): void => {
    current.current?.abort();
    setState((now) => (now.kind === 'running' ? { kind: 'cancelled', report: now.report } : now));
  };
  return { state, start: (question: Question) => void start(question), cancel };
}
