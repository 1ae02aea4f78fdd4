import { VersionTexts } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { loadedFrom } from './configurations.js';

/** What was ever put on agent.config, the oldest first, but for what services pass over as well: what cannot be decoded, and another content under a version that is there. */
export async function configurationsOn(bus: LogReader): Promise<readonly ConfigVersion[]> {
  const all: ConfigVersion[] = [];
  const texts = new VersionTexts(loadedFrom);
  for await (const { record } of bus.read([topics.config], { from: 'start', onUndecodable: () => undefined }))
    if (texts.add(record.version, record.configuration)) all.push(record);
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
