import type { Configuration } from '@sluice/core';
import type { ConfigVersion } from '@sluice/contracts';

/** The compiled configuration that a record of agent.config carries. */
export function configurationIn({ configuration }: Pick<ConfigVersion, 'configuration'>): Configuration {
  return JSON.parse(configuration) as Configuration;
}
