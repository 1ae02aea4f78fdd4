import { describe, expect, it } from '@jest/globals';
import type { AgentDiscovery } from '@sluice/core';
import { requireSelectorKey, searchOffered } from '../src/search-offered.js';

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

describe('a search of an agent', () => {
  const offered = ['get_weather', 'read_file', 'send_mail'].map((id) => ({
    ...{ id, description: `${'a'.repeat(2_000)} for the user`, shortDescription: id, inputSchema: { type: 'object' } },
  }));
  const search = (query: string) =>
    searchOffered(query, offered as never, {
      ...{ settings: undefined, environment: { secret: () => undefined }, signal: new AbortController().signal },
    });

  it('takes several words as words, and says nothing of patterns', async () => {
    const { tools, by, note } = await search('weather forecast city');
    expect([tools.map(({ name }) => name), by, note]).toEqual([
      ['get_weather'],
      'keywords',
      'This tool can be called from your next turn on.',
    ]);
  });

  it.each(['(.{0,1000})'.repeat(45), '(?=weather)', 'weather('])(
    'says what is no pattern that is run: %.20s',
    async (query) => {
      const { by, note } = await search(query);
      expect([by, note]).toEqual([
        'keywords',
        expect.stringMatching(/^The query is no regular expression that can be run \(RE2/),
      ]);
    },
  );
});
