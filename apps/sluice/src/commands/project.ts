import { parseArgs } from 'node:util';
import { openBus, prepareDataFolder, projectionLocation, requireLog, verifierIfAny } from '@sluice/host';
import { configurationsOn, GenuineEnds, runCosts } from '@sluice/run';
import { catchUp, Projection } from '@sluice/projection';
import { refuseSurplus } from '../refuse-surplus.js';
import type { AppliedConfiguration } from '@sluice/run';
import type { Configuration } from '@sluice/core';
import { printJson } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice project rebuild [--json]
  Reads the log from its beginning into the gateway’s lists of runs, audit entries and dead letters: in the PostgreSQL of DATABASE_URL, or
  in SLUICE_DATA. The gateway does so by itself where it finds none. Lists are incomplete until it is done; a gateway that runs meanwhile
  goes on. --json prints {records}.`;

export async function run(
  args: readonly string[],
  { environment, log, print, write }: CommandContext,
): Promise<number> {
  const options = { json: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  refuseSurplus({ values, words: positionals }, { taken: ['json'], words: 1 }, usage);
  if (positionals[0] !== 'rebuild') throw new Error(`Write “sluice project rebuild”.\n${usage}`);
  requireLog(environment);
  const place = projectionLocation(environment);
  if ('file' in place) prepareDataFolder(environment.dataFolder);
  const { bus } = await openBus(environment, log);
  try {
    const projection = await Projection.open(place);
    try {
      await projection.clear();
      const signal = new AbortController().signal;
      const signatures = verifierIfAny(environment);
      const genuine = new GenuineEnds(bus, signatures, log);
      const applied = new Map((await configurationsOn(bus, signatures)).map((one) => [one.version, one]));
      const costs = runCosts((version) => Promise.resolve(readable(applied.get(version))));
      const records = await catchUp(projection, { bus: genuine, costs, signal });
      if (values.json) printJson({ print }, { records });
      else write(`The lists are rebuilt from ${records} records.\n`);
      return 0;
    } finally {
      await projection.close();
    }
  } finally {
    await bus.close();
  }
}

/** Null for one that this version does not read. */
function readable(applied: AppliedConfiguration | undefined): Configuration | null {
  try {
    return applied?.read() ?? null;
  } catch {
    return null;
  }
}
