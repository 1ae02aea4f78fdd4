import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { examineLogFile, schemasOf, openSqliteBus } from '@sluice/bus';
import type { ExaminedLog, SqliteBus } from '@sluice/bus';
import { allTopics, incompatible } from '@sluice/contracts';
import type { CheckResult } from '@sluice/core';
import { examineLedgerFile, openSqliteLedger } from '@sluice/ledger';
import type { SqliteLedger } from '@sluice/ledger';
import { dataFiles, prepareDataFolder } from './data-folder.js';
import type { Environment } from './environment.js';
import { partLog } from './log.js';
import type { Log } from './log.js';
import type { Retention } from './retention-environment.js';
import { systemClock } from './runtime.js';
import { openNamed } from './written-by.js';

/** Opens the log in the data folder. Rejects with a sentence if the folder or the file cannot be used. */
export function openLogFile(environment: Environment, log: Log): Promise<SqliteBus> {
  prepareDataFolder(environment.dataFolder);
  return openNamed(environment, () =>
    openSqliteBus({
      file: dataFiles(environment).log,
      clock: systemClock,
      instance: environment.instance,
      processId: process.pid,
      isAlive,
      log: partLog(log),
    }),
  );
}

/**
 * Throws a sentence if the environment names an embedded log that was never made: commands that only look must not
 * make one.
 */
export function requireLog({ bus, dataFolder }: Pick<Environment, 'bus' | 'dataFolder'>): void {
  if (bus === 'kafka' || existsSync(dataFiles({ dataFolder }).log)) return;
  throw new Error(
    `There is no log in ${resolve(dataFolder)}. Set SLUICE_DATA to the data folder that is meant; \`sluice start\` makes one.`,
  );
}

/** Opens the ledger in the data folder. */
export function openLedgerFile(environment: Environment, log: Log): Promise<SqliteLedger> {
  prepareDataFolder(environment.dataFolder);
  return openNamed(environment, () => openSqliteLedger({ file: dataFiles(environment).ledger, log: partLog(log) }));
}

/** Removes what the log need not hold any longer. */
export async function trimLog(bus: SqliteBus, retention: Retention): Promise<void> {
  for (const topic of allTopics) {
    const { ms, bytes } = retention[topic];
    if (ms === -1 && bytes === null) continue;
    await bus.retain(topic, {
      ...(ms === -1 ? {} : { olderThan: systemClock.now() - ms }),
      ...(bytes === null ? {} : { bytes }),
    });
  }
}

/** Looks at the log in the data folder without a change to it, and who consumes as the group; null if there is none. */
export function examineLog(environment: Environment, group: string): ExaminedLog | null {
  const { log } = dataFiles(environment);
  if (!existsSync(log)) return null;
  const { instance } = environment;
  return examineLogFile(log, group, { instance, processId: process.pid, isAlive, clock: systemClock });
}

/** The same of the ledger. */
export function examineLedger(environment: Environment): CheckResult | null {
  const { ledger } = dataFiles(environment);
  return existsSync(ledger) ? examineLedgerFile(ledger) : null;
}

/** Whether this version and those that wrote the log understand each other's records; null if there is no log. */
export function examineRecords(environment: Environment): CheckResult | null {
  const { log } = dataFiles(environment);
  if (!existsSync(log)) return null;
  const schemas = schemasOf(log);
  const refused = incompatible(schemas);
  if (refused.length === 0)
    return { outcome: 'ok', detail: `Records of all ${schemas.length} schemas on the log are understood, both ways.` };
  return {
    ...{ outcome: 'failed', detail: `Records of ${refused.join(', ')} on the log and of this version do not fit.` },
    action: 'Stay with the version that wrote them.',
  };
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
