import { modelsFor, spentBy } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { Run } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';

/** What a run cost so far under the configuration of this version, in millionths of a US dollar; null: not known. */
type CostOf = (configVersion: string, run: Run) => number | null;

/**
 * Costs of the runs that records are about. The configurations that they name are asked for first; null where one
 * cannot be had.
 */
export function runCosts(
  configurationOf: (version: string) => Promise<Configuration | null>,
): (messages: readonly Incoming[]) => Promise<CostOf> {
  return async (messages) => {
    const versions = new Set(messages.flatMap(({ record }) => ('run' in record ? [record.configVersion] : [])));
    const found = new Map<string, Configuration | null>();
    for (const version of versions) found.set(version, version === '' ? null : await configurationOf(version));
    return (version, run) => {
      const configuration = found.get(version) ?? null;
      return configuration === null ? null : costUnder(configuration, run);
    };
  };
}

function costUnder(configuration: Configuration, run: Run): number | null {
  const tool = run.parent?.tool;
  const agent = tool === undefined ? undefined : configuration.tools.find(({ id }) => id === tool)?.agent;
  return spentBy(run, modelsFor(configuration, agent)[0].price).microUsd;
}
