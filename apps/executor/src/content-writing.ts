import type { Runtime } from '@sluice/host';

/** What content is kept with. */
export type ContentWorld = Pick<Runtime, 'content' | 'clock' | 'environment' | 'log'>;

/** Content is kept as long as the steps that name it; null for ever. */
export function expiryOf({ clock, environment }: Pick<ContentWorld, 'clock' | 'environment'>): number | null {
  const { ms } = environment.retention['agent.steps'];
  return ms === -1 ? null : clock.now() + ms;
}
