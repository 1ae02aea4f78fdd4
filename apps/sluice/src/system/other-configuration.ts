import { resolve } from 'node:path';
import { printable } from '@sluice/core';
import type { LogReader } from '@sluice/bus';
import { configurationsOn, inForceOf } from '@sluice/run';
import { verifierIfAny } from '@sluice/host';
import type { Environment } from '@sluice/host';

/**
 * The services that run decide under the configuration in force. If SLUICE_CONFIG names another one, its user expects
 * what will not happen: throws a sentence that names both. A file elsewhere that compiles to the same version is no
 * other one.
 */
export async function refuseOtherConfiguration(
  bus: LogReader,
  surroundings: { readonly environment: Environment },
): Promise<void> {
  const { configFile, bus: kind, dataFolder } = surroundings.environment;
  if (configFile === null) return;
  const current = inForceOf(await configurationsOn(bus, verifierIfAny(surroundings.environment)));
  if (current === undefined || resolve(current.source) === configFile) return;
  const { compileForCommand } = await import('./compile-once.js');
  const { configuration } = await compileForCommand(configFile, surroundings);
  if (configuration?.version === current.version) return;
  const instead =
    kind === 'kafka'
      ? `put yours in force with \`sluice config apply ${configFile}\``
      : 'stop them first, or set SLUICE_DATA to another folder';
  const where = kind === 'kafka' ? 'on this cluster' : `on ${dataFolder}`;
  throw new Error(
    `SLUICE_CONFIG names ${configFile}, but the services that run ${where} work under ${printable(current.source)} (version ${current.version}). Leave SLUICE_CONFIG unset to ask those, or ${instead}.`,
  );
}
