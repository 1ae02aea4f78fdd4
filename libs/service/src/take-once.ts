import { Fault } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from './runtime.js';

/** How long a taken turn is remembered, in milliseconds: a week, as long as a record can come again from the log. */
const turnMemoryMs = 7 * 24 * 3_600_000;

/**
 * A grant serves one turn, and a turn goes on once (DESIGN, ideas 2 and 9): the first record of a turn takes it and may ask again,
 * a copy of it is not taken. Throws Fault('replayed') for the copy.
 */
export async function takeTurn(
  message: Incoming<'agent.tool-calls' | 'agent.steps'>,
  { ledger, clock }: Pick<Runtime, 'ledger' | 'clock'>,
): Promise<void> {
  const { topic, partition, offset, record } = message;
  const key = `turn/${topic}/${record.requestId}/${record.iteration}`;
  const owner = `${topic}/${partition}/${offset}`;
  const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: turnMemoryMs });
  if (claim.owner === owner) return;
  throw new Fault('replayed', `Turn ${record.iteration} of this run was taken by ${claim.owner}.`, false);
}
