import { setTimeout as delay } from 'node:timers/promises';
import type { LogIdentity } from '@sluice/bus';
import { Fault } from '@sluice/core';
import type { Belonging } from '@sluice/ledger';
import { dataFiles } from './data-folder.js';
import type { Environment } from './environment.js';
import type { Log } from './log.js';

/** How often a ledger that does not belong to the log is looked at again, milliseconds. */
const againMs = 5_000;

type Places = Pick<Environment, 'bus' | 'databaseUrl' | 'dataFolder'>;

/** A log and a ledger, as far as it matters whether they belong together. */
interface Pair {
  readonly bus: { identity(): Promise<LogIdentity> };
  readonly ledger: { readonly belonging: Belonging };
}

/**
 * The log and the ledger belong together, or the promise rejects with Fault('ledger_unreachable') that says what to
 * do: a ledger that knows nothing of the log would let what was done be done again. It remembers nothing: for
 * commands.
 */
export async function requireBelonging(pair: Pair, environment: Places): Promise<void> {
  await looked(pair, environment);
}

/**
 * As `requireBelonging`, and a new ledger belongs to this log from now on. In a database that others mend while this
 * process runs, it waits: `because` hears why.
 */
export async function awaitBelonging(
  pair: Pair,
  environment: Places,
  {
    log,
    signal,
    because,
  }: { readonly log: Log; readonly signal?: AbortSignal | undefined; readonly because: (why: string) => void },
): Promise<void> {
  for (let said = ''; ;) {
    try {
      const { id } = await looked(pair, environment);
      return await pair.ledger.belonging.take(id);
    } catch (error) {
      if (environment.databaseUrl === null || signal === undefined || !(error instanceof Fault)) throw error;
      because(error.message);
      if (error.message !== said) log.error((said = error.message));
    }
    await delay(againMs, undefined, { signal });
  }
}

async function looked({ bus, ledger }: Pair, environment: Places): Promise<LogIdentity> {
  // In this order: another process may remember and begin to work in between.
  const found = await bus.identity();
  const remembered = await ledger.belonging.find();
  const why = mismatch(found, remembered, namesOf(environment));
  if (why !== null) throw new Fault('ledger_unreachable', why, false);
  return found;
}

/**
 * Why the two do not belong together, and what to do; null if they do. `remembered` is what the ledger says of its
 * log.
 */
export function mismatch(
  { id, used }: LogIdentity,
  remembered: string | null,
  { log, ledger }: { readonly log: string; readonly ledger: string },
): string | null {
  const after = `To go on as it is, run “sluice ledger adopt”: then what was under way may be done twice.`;
  if (remembered === null && used)
    return `The ledger ${ledger} is empty, though services have worked on the log ${log}: it was emptied, or is another one than before. Put the ledger of this log back. ${after}`;
  if (remembered === null || remembered === '' || remembered === id) return null;
  if (!used)
    return `The log ${log} is empty, though the ledger ${ledger} belongs to one: the log was emptied, or is another one than before. Put the log of this ledger back. ${after}`;
  return `The ledger ${ledger} belongs to another log than ${log}. Put the two back that belong together. ${after}`;
}

/** How sentences name them; an address with its password is no part of it. */
function namesOf(environment: Places): { readonly log: string; readonly ledger: string } {
  const files = dataFiles(environment);
  return {
    log: environment.bus === 'kafka' ? 'on KAFKA_BROKERS' : files.log,
    ledger: environment.databaseUrl === null ? files.ledger : 'in the database of DATABASE_URL',
  };
}
