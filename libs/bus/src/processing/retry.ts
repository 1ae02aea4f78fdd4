import { setTimeout as delay } from 'node:timers/promises';
import { Fault } from '@sluice/core';
import type { FaultCode } from '@sluice/core';
import type { RetryPolicy } from '../port.js';
import { OutputRefused } from './outputs.js';

export const defaultRetry: RetryPolicy = { initialMs: 100, maxMs: 10_000, attempts: 10 };

/** What is to be done with a record whose handler threw. */
export type Verdict =
  | { readonly kind: 'retry'; readonly waitMs: number }
  | { readonly kind: 'dead'; readonly code: FaultCode; readonly reason: string };

/** `attempt` counts from 1. */
export function judge(error: unknown, attempt: number, retry: RetryPolicy): Verdict {
  if (error instanceof Fault) {
    if (!error.retryable) return { kind: 'dead', code: error.code, reason: error.message };
    if (attempt < retry.attempts) return { kind: 'retry', waitMs: backOff(attempt, retry) };
    const reason = `It was tried ${attempt} times; the last fault was ${error.code}: ${error.message}`;
    return { kind: 'dead', code: 'retries_exhausted', reason };
  }
  if (error instanceof OutputRefused) return { kind: 'dead', code: error.code, reason: error.message };
  return {
    kind: 'dead',
    code: 'unexpected',
    reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
  };
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
