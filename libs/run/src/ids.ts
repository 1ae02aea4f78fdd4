import type { Incoming } from '@sluice/bus';
import { runIdsOf } from '@sluice/contracts';

export { tenantOf } from '@sluice/contracts';

/** The run a record belongs to; null if it belongs to none, or that is unknown. */
export function requestIdOf(message: Incoming): string | null {
  return runIdsOf(message)?.requestId ?? null;
}
