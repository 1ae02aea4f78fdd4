import { claimMemoryMs } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { dataFiles, openLedger, openLogFile, systemClock } from '@sluice/host';
import type { Environment, Log } from '@sluice/host';
import { callKeyOf, claimedName, runOfRecord } from '@sluice/run';
import { existsSync } from 'node:fs';
import type { Manifest } from './manifest.js';

/** A call that may have been made since the backup was taken. */
export interface CallInDoubt {
  readonly requestId: string;
  readonly tool: string;
}

const owner = 'restore';

/**
 * Prepares the log and the ledger of a copy for another life. No process holds a lease of it. Each call that waited
 * for an executor at the moment of the copy gets a claim without an outcome, if it has none: whether it was made since
 * then is not in the copy. An executor repeats of them what is safe to repeat, asks tools that can tell whether they
 * took effect, and reports the others with `outcome_unknown`.
 */
export async function markInDoubt(
  environment: Environment,
  log: Log,
  { takenAt }: Pick<Manifest, 'takenAt'>,
): Promise<readonly CallInDoubt[]> {
  const found: CallInDoubt[] = [];
  const bus = await openLogFile(environment, log);
  try {
    await bus.freeLeases();
    const open = new Set(await bus.unfinished('executor', topics.toolCalls));
    const [first] = open;
    const hasLedger = environment.databaseUrl !== null || existsSync(dataFiles(environment).ledger);
    if (first === undefined || !hasLedger) return found;
    const { ledger } = await openLedger(environment, log);
    try {
      const claiming = {
        owner,
        now: Date.parse(takenAt),
        ttlMs: claimMemoryMs + systemClock.now() - Date.parse(takenAt),
      };
      const options = { from: { offset: first }, onUndecodable: () => undefined } as const;
      for await (const { offset, record } of bus.read([topics.toolCalls], options)) {
        if (!open.has(offset)) continue;
        const name = await claimedName(runOfRecord(record), { ledger, clock: systemClock });
        for (const [index, call] of record.calls.entries()) {
          const claim = await ledger.claim({ key: callKeyOf(name, record, call, index), ...claiming });
          if (claim.owner === owner) found.push({ requestId: record.requestId, tool: call.tool });
        }
      }
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
  return found;
}
