import { parseArgs } from 'node:util';
import { restoreBackup, sizeText } from '@sluice/backup';
import type { CallInDoubt } from '@sluice/backup';
import { printableIn } from '@sluice/core';
import { openLogFile, systemClock, verifierIfAny } from '@sluice/host';
import { GenuineEnds } from '@sluice/run';
import { abortOn } from '../abort-on.js';
import { readRuns } from '../runs.js';
import type { RunSummary } from '../runs.js';
import { progressOn } from '../show/progress.js';
import { requireEmbedded } from './backup.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice restore FOLDER [--replace] [--json]
  Makes the data folder (SLUICE_DATA) of a backup. Refuses one that services use, one that is not empty, and a backup that is damaged or
  of a newer version. --replace moves what is there to a folder in it, replaced-TIME. Runs that were open go on at the next start, as they
  stood then. What they did since is not in the backup: calls that were under way are marked in doubt and not made again unless that
  is safe; what came after them may be done again. It lists both. Cancel what must not go on before you start (docs/operations.md).`;

/** Runs that are named, at most; of more, the newest. */
const mostNamed = 50;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { replace: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  });
  const [from, ...more] = positionals;
  if (from === undefined || more.length > 0) throw new Error(`Name the folder of the backup.\n${usage}`);
  const { environment, log, write, print, paint, stopped } = surroundings;
  requireEmbedded(environment);
  const { manifest, inDoubt, former } = await restoreBackup({
    ...{ from, environment, log, replaces: values.replace, now: systemClock.now() },
    signal: abortOn(stopped),
    onProgress: progressOn(surroundings, 'restored'),
  });
  const open = await openRuns(surroundings);
  if (values.json) {
    const { takenAt, version, hasKeys, files } = manifest;
    const about = { taken_at: takenAt, version, has_keys: hasKeys, files: files.length, former_files: former };
    const calls = inDoubt.map(({ requestId, tool }) => ({ request_id: requestId, tool }));
    const runs = open.map(({ requestId, sessionId, question }) => ({
      ...{ request_id: requestId, session_id: sessionId, question },
    }));
    print(`${JSON.stringify({ ...about, open_runs: runs, calls_in_doubt: calls })}\n`);
    return 0;
  }
  const bytes = manifest.files.reduce((sum, one) => sum + one.bytes, 0);
  write(`${paint.good('✓')} ${environment.dataFolder} is as it was at ${manifest.takenAt}: ${sizeText(bytes)}\n`);
  if (former !== null) write(`What was there is in ${former}. Remove it when you need it no longer.\n`);
  if (!manifest.hasKeys)
    write(`${paint.bad('The backup has no keys.')} Put those of its time in place before you start, or runs end.\n`);
  if (!manifest.hasLedger)
    write('Its ledger is in a database. Restore that to a moment after the backup, or run “sluice ledger adopt”.\n');
  sayOpen(printableIn(open), printableIn(inDoubt), surroundings);
  return 0;
}

function sayOpen(open: readonly RunSummary[], calls: readonly CallInDoubt[], { write, paint }: CommandContext): void {
  if (open.length === 0) return write('No run was open.\n');
  write(
    `${open.length === 1 ? 'One run was' : `${open.length} runs were`} open, and what became of it since is not in the backup:\n`,
  );
  for (const { requestId, question } of open) {
    const doubtful = calls.filter((call) => call.requestId === requestId).map(({ tool }) => paint.tool(tool));
    const marked = doubtful.length === 0 ? '' : `  in doubt: ${doubtful.join(', ')}`;
    write(`   ${paint.strong(requestId)}  “${question.slice(0, 60)}”${marked}\n`);
  }
  write('They go on at the next start. Before it, sluice cancel REQUEST_ID ends one that must not.\n');
}

/** Runs of the restored log without an end. */
async function openRuns({ environment, log }: CommandContext): Promise<readonly RunSummary[]> {
  const bus = await openLogFile(environment, log);
  try {
    const none = { since: null, user: null, tenant: null, tool: null };
    const ends = new GenuineEnds(bus, verifierIfAny(environment), log);
    return await readRuns(ends, { ...none, outcome: 'running', most: mostNamed });
  } finally {
    await bus.close();
  }
}
