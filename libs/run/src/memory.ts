import { claimMemoryMs, Fault, recalled, withRun } from '@sluice/core';
import type { Configuration, Principal, RememberedRun } from '@sluice/core';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { RunParts } from './parts.js';

/** Several runs of a session may end at the same time. */
const mostTries = 20;

type Remembering = Pick<RunParts, 'documents' | 'clock'>;

/**
 * Whose runs they are: of one user of one tenant in one session. The caller chooses the session’s name, so it alone
 * opens nothing.
 */
function keyOf(sessionId: string, { tenantId, subjectId, actorId }: Principal): string {
  return `memory/${JSON.stringify([tenantId, subjectId ?? actorId, sessionId])}`;
}

/**
 * Keeps what the run was asked and answered, before its end is on the log: who reads the end and asks again finds it.
 * Runs of sub-agents, single calls, and runs without an answer are not kept.
 */
export async function remember(
  { requestId, sessionId, question, answer, run, endedAt }: AgentResponse,
  asked: Partial<Pick<AgentRequest, 'call'>>,
  { memory }: Pick<Configuration, 'memory'>,
  { documents, clock }: Remembering,
): Promise<void> {
  if (memory === undefined || answer === null || !run?.principal || run.parent !== null || asked.call) return;
  const key = keyOf(sessionId, run.principal);
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await documents.find(key);
    const kept = found === undefined ? [] : (JSON.parse(found.text) as readonly RememberedRun[]);
    const text = JSON.stringify(withRun(kept, { requestId, question, answer, endedAt }));
    if (await documents.put(key, (found?.version ?? 0) + 1, text, clock.now() + claimMemoryMs)) return;
  }
  throw new Fault('ledger_unreachable', 'The runs of the session are written too often to keep one more.', true);
}

/** The earlier runs that the model of this one is shown; null where the configuration shows none. */
export async function recall(
  sessionId: string,
  { call, requestId }: Pick<AgentRequest, 'call' | 'requestId'>,
  principal: Principal,
  { memory }: Pick<Configuration, 'memory'>,
  { documents, clock }: Remembering,
): Promise<readonly RememberedRun[] | null> {
  if (memory === undefined || call !== null) return null;
  const found = await documents.find(keyOf(sessionId, principal));
  if (found === undefined || (found.expiresAt !== null && found.expiresAt <= clock.now())) return [];
  const kept = JSON.parse(found.text) as readonly RememberedRun[];
  // An attempt that was re-driven is not shown its own former end.
  return recalled(
    kept.filter((one) => one.requestId !== requestId),
    memory,
  );
}
