import { printable } from '@sluice/core';
import type { Verifier } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { configurationsOn, inForceOf } from '@sluice/run';
import type { AppliedConfiguration } from '@sluice/run';

/** The sample's configuration file and that of `sluice load`, as they are published. */
export const sampleFile = 'examples/countries/sluice.yaml';
export const loadFile = 'examples/load/sluice.yaml';

/**
 * The configuration in force if an operator applied it: then no command replaces it by one that comes with the
 * project. Null if there is none yet, or if it is one of those, which give way to each other and to later versions of
 * themselves.
 */
export async function appliedConfiguration(
  bus: Pick<Bus, 'read'>,
  signatures: Verifier,
): Promise<AppliedConfiguration | null> {
  const last = inForceOf(await configurationsOn(bus, signatures));
  return last === undefined || last.source === sampleFile || last.source === loadFile ? null : last;
}

export function aboutVersion({ version, source }: Pick<AppliedConfiguration, 'version' | 'source'>): string {
  return `configuration ${version} from ${printable(source)}`;
}
