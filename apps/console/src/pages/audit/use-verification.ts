import type { AuditFinding, VerificationEvent } from '@sluice/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { sluice } from '../../data/client.js';

type Progress = Extract<VerificationEvent, { type: 'progress' }>;
export type VerificationEnd = Extract<VerificationEvent, { type: 'end' }>;

export interface Verification {
  readonly startedAt: number;
  readonly progress: Progress | null;
  readonly findings: readonly AuditFinding[];
  readonly end: VerificationEnd | null;
  readonly error: Error | null;
  /** Stopped by its reader. */
  readonly isStopped: boolean;
}

/** A verification of the whole audit, as it goes; it stops when the page is left. */
export function useVerification() {
  const [state, setState] = useState<Verification | null>(null);
  const leaving = useRef<AbortController | null>(null);
  const stop = useCallback(() => {
    leaving.current?.abort();
    setState((now) => (now === null || now.end !== null ? now : { ...now, isStopped: true }));
  }, []);
  useEffect(() => () => leaving.current?.abort(), []);
  const start = useCallback(() => {
    leaving.current?.abort();
    const own = (leaving.current = new AbortController());
    const none = { progress: null, findings: [], end: null, error: null, isStopped: false };
    setState({ startedAt: Date.now(), ...none });
    const change = (more: (now: Verification) => Partial<Verification>): void => {
      if (!own.signal.aborted) setState((now) => (now === null ? now : { ...now, ...more(now) }));
    };
    void (async () => {
      try {
        for await (const event of sluice.audit.verification({ signal: own.signal })) {
          if (event.type === 'progress') change(() => ({ progress: event }));
          else if (event.type === 'finding') change(({ findings }) => ({ findings: [...findings, event] }));
          else change(() => ({ end: event }));
        }
      } catch (error) {
        change(() => ({ error: error instanceof Error ? error : new Error(String(error)) }));
      }
    })();
  }, []);
  return { state, start, stop, close: useCallback(() => setState(null), []) };
}
