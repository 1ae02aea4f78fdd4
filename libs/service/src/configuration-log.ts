import { topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { loadedFrom } from './configurations.js';

/** What was ever put on agent.config, the oldest first, but for what cannot be decoded: services pass it over as well. */
export async function configurationsOn(bus: LogReader): Promise<readonly ConfigVersion[]> {
  const all: ConfigVersion[] = [];
  for await (const { record } of bus.read([topics.config], { from: 'start', onUndecodable: () => undefined }))
    all.push(record);
  return all;
}

/** The one that services take: the last that can be read. */
export function inForceOf(all: readonly ConfigVersion[]): ConfigVersion | undefined {
  return all.findLast(({ configuration }) => {
    try {
      return Boolean(loadedFrom(configuration));
    } catch {
      return false;
    }
  });
}
