import type { Configuration } from '@sluice/core';
import type { Configurations } from '../configuration/configurations.js';

/** So many configurations are read for one list; a list has calls of one or two. */
const mostVersions = 8;

/** A tool as a list of calls names it. */
export interface ToolName {
  readonly key: string;
  /** Its name for people; null where no configuration has the tool any more. */
  readonly title: string | null;
}

/** A call that was asked about: the id of its tool, and the configuration that granted it. */
interface GrantedCall {
  readonly tool: string;
  readonly configVersion: string;
}

/**
 * The tools of the calls, in the same order, as the configurations that granted them name them; else as the one in
 * force does. Only what is in memory is looked at.
 */
export function toolNames(
  calls: readonly GrantedCall[],
  configurations: Pick<Configurations, 'inForceOrNull' | 'versionOrNull'>,
): readonly ToolName[] {
  const ids = new Set(calls.map(({ tool }) => tool));
  const versions = [...new Set(calls.map(({ configVersion }) => configVersion))].slice(0, mostVersions);
  const granting = new Map(
    versions.map((version) => [version, namesIn(configurations.versionOrNull(version)?.configuration, ids)]),
  );
  const inForce = namesIn(configurations.inForceOrNull()?.configuration, ids);
  return calls.map(
    ({ tool, configVersion }) =>
      granting.get(configVersion)?.get(tool) ?? inForce.get(tool) ?? { key: tool, title: null },
  );
}

function namesIn(
  configuration: Pick<Configuration, 'tools'> | undefined,
  ids: ReadonlySet<string>,
): ReadonlyMap<string, ToolName> {
  const found = (configuration?.tools ?? []).filter(({ id }) => ids.has(id));
  return new Map(found.map(({ id, key, title }) => [id, { key, title }]));
}
