import { parseArgs } from 'node:util';
import { seedHistory } from './seed.js';

export const usage = 'npm run bench -- seed --runs 100000 --data DIR [--days 10]';

/** Fills a new data folder with the runs of the last days. */
export async function seedCommand(args: readonly string[]): Promise<void> {
  const options = {
    runs: { type: 'string', default: '100000' },
    days: { type: 'string', default: '10' },
    data: { type: 'string' },
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  const [runs, days] = [Number(values.runs), Number(values.days)];
  if (values.data === undefined) throw new Error(`Name a new data folder with --data: ${usage}`);
  if (!Number.isInteger(runs) || runs < 1 || runs > 10_000_000)
    throw new Error('--runs is a number of runs from 1 to 10000000.');
  if (!(days > 0 && days <= 3_650)) throw new Error('--days is a number of days from more than 0 to 3650.');
  const said = (done: number): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${runs} runs`);
  };
  const { records, seconds } = await seedHistory({ folder: values.data, runs, days, hasThread: true, said });
  if (process.stderr.isTTY) process.stderr.write('\r');
  console.log(
    `${runs} runs of ${days} days, ${records} records, in ${seconds.toFixed(1)} s: ${(runs / seconds).toFixed(0)} runs a second. Serve them with SLUICE_DATA=${values.data}`,
  );
}
