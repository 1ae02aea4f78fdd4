import { describe, expect, it } from '@jest/globals';
import type { AgentDiscovery } from '@sluice/core';
import { requireSelectorKey } from '../src/search-offered.js';

describe('the key of the service that selects tools', () => {
  const agentDiscovery = { strategy: 'api', api: { apiKeyEnv: 'SELECTOR_KEY' } } as unknown as AgentDiscovery;
  const none = { secret: () => undefined };

  it('must be set where the service is asked', () => {
    expect(() => requireSelectorKey({ agentDiscovery }, none)).toThrow(/^The variable SELECTOR_KEY is not set, /);
    requireSelectorKey({ agentDiscovery }, { secret: () => 'key' });
  });

  it('is nothing to others', () => {
    requireSelectorKey({ agentDiscovery: { ...agentDiscovery, strategy: 'tool-search' } }, none);
    requireSelectorKey({}, none);
  });
});
