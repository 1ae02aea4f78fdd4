import { versionOf } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { applyConfiguration } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** The configuration, changed by hand, under the version of what it says now. */
export function versioned({ version: _, ...content }: Configuration): Configuration {
  return { version: versionOf(content, sha256), ...content };
}

/** Puts the configuration in force as `sluice config apply` does. */
export async function applyTo(
  { bus, clock, signatures }: Pick<Runtime, 'bus' | 'clock' | 'signatures'>,
  configuration: Configuration,
  source = 'test',
): Promise<void> {
  await applyConfiguration(bus, configuration, { source, compiledAt: clock.now() }, { signatures, isWhole: false });
}
