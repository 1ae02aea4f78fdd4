import { callsAround, claimMemoryMs, runName } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { runOfRecord } from './run-names.js';
import type { NamedRun } from './run-names.js';
import type { RunParts } from '../parts.js';

type Keeping = Pick<RunParts, 'documents' | 'clock'>;
type Turn = Pick<ToolCall, 'requestId' | 'sessionId' | 'run'>;

/**
 * Keeps until when the turn’s run may last, which its Toolset on the log does not say: it waits for people, or has
 * waited in this turn.
 */
export async function keepDeadline(turn: Turn, deadline: number, parts: Keeping): Promise<void> {
  await keep(runOfRecord(turn), () => deadline, parts);
  await keepDeadlineOfCallers(turn, deadline, parts);
}

/** The runs whose calls this one is within last at least as long. */
async function keepDeadlineOfCallers({ run }: Turn, deadline: number, parts: Keeping): Promise<void> {
  if (run.principal === null) return;
  const tenant = run.principal.tenantId;
  for (const { requestId } of callsAround(run))
    await keep({ requestId, tenant }, (before) => Math.max(before ?? 0, deadline), parts);
}

/** Until when the run may last, milliseconds since the epoch; null if no turn of it waits or has waited. */
export async function deadlineKept(run: NamedRun, { documents }: Pick<Keeping, 'documents'>): Promise<number | null> {
  const found = await documents.find(keyOf(run));
  return found === undefined ? null : Number(found.text);
}

/** Others may write at the same time: agents of one turn may wait side by side. */
async function keep(
  run: NamedRun,
  deadline: (before: number | null) => number,
  { documents, clock }: Keeping,
): Promise<void> {
  for (;;) {
    const found = await documents.find(keyOf(run));
    const next = deadline(found === undefined ? null : Number(found.text));
    const mayGo = Math.max(next, clock.now()) + claimMemoryMs;
    if (await documents.put(keyOf(run), (found?.version ?? 0) + 1, String(next), mayGo)) return;
  }
}

function keyOf({ requestId, tenant }: NamedRun): string {
  return `deadline/${runName(requestId, tenant)}`;
}
