import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { FaultCode } from '@sluice/core';
import type { RetryPolicy } from '../port.js';
import { OutputRefused } from './outputs.js';

export const defaultRetry: RetryPolicy = { initialMs: 100, maxMs: 10_000, attempts: 10 };

/** What is to be done with a record whose handler threw. */
export type Verdict = { readonly kind: 'retry'; readonly waitMs: number; readonly fault: Fault } | Death;

/**
 * Why a record is dead-lettered. `lastFault` is the one that the retries ended with, null if there were none to end.
 */
export interface Death {
  readonly kind: 'dead';
  readonly code: FaultCode;
  readonly reason: string;
  readonly lastFault: FaultCode | null;
}

/** `attempt` counts from 1; `now` is in milliseconds since the epoch. */
export function judge(error: unknown, attempt: number, retry: RetryPolicy, now: number): Verdict {
  if (error instanceof Fault) {
    if (!error.retryable) return dead(error.code, error.message);
    const waitMs = waitBefore(error, attempt, retry, now);
    if (waitMs !== null) return { kind: 'retry', waitMs, fault: error };
    const reason = `It was tried ${attempt} times; the last fault was ${error.code}: ${error.message}`;
    return { kind: 'dead', code: 'retries_exhausted', reason, lastFault: error.code };
  }
  if (error instanceof OutputRefused) return dead(error.code, error.message);
  return dead('unexpected', error instanceof Error ? `${error.name}: ${error.message}` : String(error));
}

export function dead(code: FaultCode, reason: string): Death {
  return { kind: 'dead', code, reason, lastFault: null };
}

/**
 * The wait before the next attempt, null if there is none. Towards a fault's own end waits get shorter, so that none
 * leaps over it.
 */
function waitBefore({ until }: Fault, attempt: number, retry: RetryPolicy, now: number): number | null {
  const waitMs = backOff(attempt, retry);
  if (until === null) return attempt < retry.attempts ? waitMs : null;
  const left = until - now;
  return left > retry.initialMs ? Math.min(waitMs, left / 2) : null;
}

export function backOff(attempt: number, retry: Pick<RetryPolicy, 'initialMs' | 'maxMs'>): number {
  return Math.min(retry.initialMs * 2 ** (attempt - 1), retry.maxMs);
}

/** The longest time a timer takes, milliseconds; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** True after the time, false as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(Math.min(ms, maxTimerMs), undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
