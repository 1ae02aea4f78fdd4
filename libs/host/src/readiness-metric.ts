import type { Health } from './health.js';
import type { Metrics } from './metrics.js';

/** How often it looks, in milliseconds. */
const everyMs = 5_000;

/** Keeps `sluice_ready` up to date, so that a scrape need not wait for whatever is away; returns what ends it. */
export function watchReadiness(health: Health, { ready }: Metrics): () => void {
  let asking = false;
  const look = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const { checks } = await health.readiness();
    asking = false;
    // What was waited for at the start is no part any more.
    ready.reset();
    for (const [check, result] of Object.entries(checks)) ready.set({ check }, result === 'ok' ? 1 : 0);
  };
  void look();
  const timer = setInterval(() => void look(), everyMs);
  return () => clearInterval(timer);
}
