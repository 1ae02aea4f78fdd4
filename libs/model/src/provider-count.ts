import type { ModelSettings } from '@sluice/core';
import type { ProviderCount } from './count-tools.js';
import type { Secret } from './provider/required-settings.js';

/**
 * The provider’s own count, where it has an endpoint for it and the environment has its key; null otherwise. What it
 * is asked is loaded only now.
 */
export async function createProviderCount(settings: ModelSettings, secret: Secret): Promise<ProviderCount | null> {
  return (await import('./count-tools.js')).createProviderCount(settings, secret);
}
