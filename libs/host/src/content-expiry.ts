import type { Clock } from '@sluice/core';
import type { Environment } from './environment.js';

/** When content that is written now may go: it is kept as long as the steps that name it; null for ever. */
export function contentExpiry({
  clock,
  environment,
}: {
  readonly clock: Clock;
  readonly environment: Pick<Environment, 'retention'>;
}): number | null {
  const { ms } = environment.retention['agent.steps'];
  return ms === -1 ? null : clock.now() + ms;
}
