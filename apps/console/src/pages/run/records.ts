import type { Run } from '@sluice/client';
import { sluice } from '../../data/client.js';
import type { RunAddress } from './use-run.js';
import { queryOf } from './use-run.js';

/** So many entries of the audit are put into a file. */
const mostEntries = 10_000;

/** Saves what the gateway has of the run as one JSON file: the run, its verdicts and its audit. */
export async function downloadRecords(run: Run, place: RunAddress): Promise<void> {
  const { location: _, ...record } = run;
  const [verdicts, audit] = await Promise.all([
    sluice.runs.verdicts(run.request_id, queryOf(place)),
    sluice.audit.list({ request_id: run.request_id, limit: 200 }).take(mostEntries),
  ]);
  const text = JSON.stringify({ run: record, verdicts: verdicts.iterations, audit }, null, 2);
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${run.request_id.replace(/[^\w.-]+/g, '_').slice(0, 100)}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
