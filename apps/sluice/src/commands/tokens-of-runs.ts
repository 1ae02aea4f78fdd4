import { printableIn } from '@sluice/core';
import { openBus, requireLog, systemClock, verifierIfAny } from '@sluice/host';
import { GenuineEnds } from '@sluice/run';
import { readRuns } from '../runs.js';
import type { RunSummary } from '../runs.js';
import { columns } from '../show/columns.js';
import { readSince } from './since.js';
import type { CommandContext } from './command-context.js';

/**
 * `sluice tokens --runs`: what the prompts of each run on the log were made of, with those of the agents that it
 * called, and the sum of all.
 */
export async function tokensOfRuns(
  options: { readonly since?: string | undefined; readonly limit: string; readonly json: boolean },
  { environment, log, write, print }: CommandContext,
): Promise<number> {
  if (!/^[1-9]\d{0,5}$/.test(options.limit))
    throw new Error(`Give --limit as a whole number from 1 to 999999, not “${options.limit}”.`);
  const since = options.since === undefined ? null : readSince('--since', options.since, systemClock.now());
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const all = { user: null, tenant: null, tool: null, outcome: null };
    const runs = await readRuns(new GenuineEnds(bus, verifierIfAny(environment), log), {
      ...all,
      since,
      most: Number(options.limit),
    });
    const rows = runs.map(rowOf);
    const total = sumOf(rows);
    if (options.json) print(`${JSON.stringify({ runs: rows, total })}\n`);
    else if (rows.length === 0) write('No run is on the log.\n');
    else write(asText(printableIn(rows), total));
    return 0;
  } finally {
    await bus.close();
  }
}

interface Row {
  readonly request_id: string;
  readonly iterations: number;
  /** As Sluice counts them; 0 where nothing was counted. */
  readonly definitions: number;
  readonly results: number;
  readonly other: number;
  /** As the providers count them. */
  readonly input: number;
  readonly output: number;
}

function rowOf({ requestId, iterations, tokens }: RunSummary): Row {
  const { definitions, results, other, input, output } = tokens;
  const counted = { definitions: definitions ?? 0, results: results ?? 0, other: other ?? 0 };
  return { request_id: requestId, iterations, ...counted, input, output };
}

function sumOf(rows: readonly Row[]): Omit<Row, 'request_id'> {
  const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    iterations: sum((row) => row.iterations),
    definitions: sum((row) => row.definitions),
    results: sum((row) => row.results),
    other: sum((row) => row.other),
    input: sum((row) => row.input),
    output: sum((row) => row.output),
  };
}

function asText(rows: readonly Row[], total: Omit<Row, 'request_id'>): string {
  const cells = ({ iterations, definitions, results, other, input, output }: Omit<Row, 'request_id'>) =>
    [iterations, definitions, results, other, input, output].map((count) => count.toLocaleString('en-US'));
  return columns([
    ['run', 'turns', 'definitions', 'results', 'rest', 'read', 'written'],
    ...rows.map((row) => [row.request_id, ...cells(row)]),
    ['all', ...cells(total)],
  ]);
}
