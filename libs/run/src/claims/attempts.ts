import type { RunState } from '@sluice/core';
import { keepOnce } from './once.js';
import type { RunParts } from '../parts.js';

/** Another attempt of a run: the dead letter that it began with, and since when. */
export interface Attempt {
  /** `partition/offset` on agent.dead-letters. */
  readonly deadLetter: string;
  /** When the log took the re-driven record, milliseconds since the epoch. */
  readonly at: number;
}

type Claiming = Pick<RunParts, 'ledger' | 'clock'>;

/**
 * Keeps in which attempt a turn was parked: its ToolCall stands on the log as it was before what brought the turn
 * back was re-driven. `wait` names the one time that it was parked, as what is asked or begun there says when.
 */
export async function keepAttempt(wait: string, { redrive, startedAt }: RunState, runtime: Claiming): Promise<void> {
  if (redrive === null) return;
  const attempt: Attempt = { deadLetter: redrive, at: startedAt };
  await keepOnce(keyOf(wait), redrive, JSON.stringify(attempt), runtime);
}

/** The attempt in which the turn was parked; null if it was the one that its ToolCall says. */
export async function attemptKept(wait: string, { ledger }: Pick<Claiming, 'ledger'>): Promise<Attempt | null> {
  const value = (await ledger.find(keyOf(wait)))?.value ?? null;
  return value === null ? null : (JSON.parse(value) as Attempt);
}

function keyOf(wait: string): string {
  return `attempt/${wait}`;
}
