import type { Run } from '@sluice/client';
import { sluice } from '../../data/client.js';
import type { RunAddress } from './use-run.js';
import { queryOf } from './use-run.js';

/** So many entries of the audit are put into a file. */
const mostEntries = 10_000;

/**
 * Saves a run as a file. Operators get its records as the log has them, a line of JSON each; others the run, its
 * verdicts and its audit as one JSON.
 */
export async function downloadRecords(run: Run, address: RunAddress, isOperator: boolean): Promise<void> {
  const name = run.request_id.replace(/[^\w.-]+/g, '_').slice(0, 100);
  if (isOperator) {
    save(`${name}.jsonl`, 'application/x-ndjson', await sluice.runs.records(run.request_id, queryOf(address)));
    return;
  }
  const { location: _, ...record } = run;
  const [verdicts, audit] = await Promise.all([
    sluice.runs.verdicts(run.request_id, queryOf(address)),
    sluice.audit.list({ request_id: run.request_id, limit: 200 }).take(mostEntries),
  ]);
  const text = JSON.stringify({ run: record, verdicts: verdicts.iterations, audit }, null, 2);
  save(`${name}.json`, 'application/json', text);
}

function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
