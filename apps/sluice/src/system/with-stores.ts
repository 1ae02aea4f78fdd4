import type { Bus, LogIdentity } from '@sluice/bus';
import { openBus, openLedger, requireLog, requireSharedLedger } from '@sluice/host';
import type { StoredLedger } from '@sluice/ledger';
import type { CommandContext } from '../commands/command-context.js';

interface Stores {
  readonly bus: Bus & { identity(): Promise<LogIdentity> };
  readonly ledger: StoredLedger;
}

/** Opens the log and its ledger for the work of a command. */
export async function withStores<T>(
  { environment, log }: Pick<CommandContext, 'environment' | 'log'>,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  requireSharedLedger(environment);
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const { ledger } = await openLedger(environment, log);
    try {
      return await work({ bus, ledger });
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
}
