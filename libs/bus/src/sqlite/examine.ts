import type { CheckResult, Clock } from '@sluice/core';
import type { RegisteredSchema } from '@sluice/contracts';
import { fileProblem, openReadOnly } from '@sluice/sqlite';
import { logKind } from './database.js';
import { liveHolder } from './lease.js';
import type { Holder, LiveHolder } from './lease.js';

/** The embedded log as it is, without a change to it. */
export interface ExaminedLog {
  readonly result: CheckResult;
  /** The process that consumes as the group; null if none does. */
  readonly holder: LiveHolder | null;
  /** Whether this version may open the file and changes nothing about it by that. */
  readonly isOfThisVersion: boolean;
}

/** Looks at a log file that is there. Takes no lease and writes nothing. */
export function examineLogFile(file: string, group: string, self: Holder & { readonly clock: Clock }): ExaminedLog {
  const database = openReadOnly(file);
  try {
    const { problem, isOlder } = fileProblem(database, file, logKind);
    if (problem !== null) {
      const detail = `The log ${file} ${problem}.`;
      const action = 'Put a whole copy back, or run the version that wrote it.';
      return { result: { outcome: 'failed', detail, action }, holder: null, isOfThisVersion: false };
    }
    if (isOlder) {
      const detail = `The log ${file} is of a former version.`;
      const action = 'The next start brings it to this version. Copy the data folder first, to be able to go back.';
      return { result: { outcome: 'warning', detail, action }, holder: null, isOfThisVersion: false };
    }
    const holder = liveHolder(database, group, self, self.clock);
    const who =
      holder === null ? 'No process runs services on it.' : `Process ${holder.processId} runs services on it.`;
    return { result: { outcome: 'ok', detail: `The log is ${file}. ${who}` }, holder, isOfThisVersion: true };
  } finally {
    database.close();
  }
}

/** The schemas by which records of a log file were written. Writes nothing. */
export function schemasOf(file: string): readonly RegisteredSchema[] {
  const database = openReadOnly(file);
  try {
    return database
      .prepare('SELECT subject, schema FROM schemas')
      .all()
      .map((row) => ({ subject: String(row['subject']), schema: String(row['schema']) }));
  } finally {
    database.close();
  }
}
