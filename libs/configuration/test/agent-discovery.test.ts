import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { searchesIn } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

const searchType = { ...(sampleInputs.types[0] as (typeof sampleInputs.types)[number]), type: 'search_tools' };

const compile = (tool_discovery: object, tool: object = {}) =>
  compileConfiguration({ tool, agents: { default: { tool_discovery } } }, sampleInputs);

describe('agents.default.tool_discovery', () => {
  it('takes tool-search only with a tool that searches, and says which', () => {
    const { problems } = compile({ strategy: 'tool-search' });
    expect(problems).toEqual([
      {
        path: 'agents.default.tool_discovery.strategy',
        found: '`tool-search`, and no tool that searches',
        write: 'a tool of `type: search_tools` under `tool`, or another strategy',
      },
    ]);
  });

  it('refuses a strategy that there is not, with those that there are', () => {
    expect(compile({ strategy: 'search' }).problems).toMatchObject([
      { path: 'agents.default.tool_discovery.strategy', write: expect.stringContaining('tool-search') },
    ]);
  });

  it('has the service that selects, its own keys before those of the provider, and says whose key is not set', () => {
    const { configuration, problems, findings } = compileConfiguration(
      {
        tool: { find: { type: 'search_tools' } },
        providers: { selector: { endpoint: 'https://one.example/', timeout: '1s' } },
        agents: {
          default: { tool_discovery: { strategy: 'api', provider: 'selector', api: { api_key: '${NOT_SET}' } } },
        },
      },
      { ...sampleInputs, types: [...sampleInputs.types, searchType] },
    );
    expect(problems).toEqual([]);
    const api = { endpoint: 'https://one.example/', apiKeyEnv: 'NOT_SET', timeoutMs: 1_000 };
    expect(configuration?.agentDiscovery?.api).toEqual(api);
    expect(findings).toContainEqual({
      kind: 'unset_variable',
      path: 'agents.default.tool_discovery.api.api_key',
      message: 'The variable NOT_SET is not set here: where it is not set either, the executor does not start.',
    });
  });

  it('takes a strategy that is run beside, of those that choose', () => {
    const shadowOf = (settings: object) =>
      compile({ strategy: 'passthrough', ...settings }).configuration?.agentDiscovery?.shadow;
    expect(shadowOf({})).toBeUndefined();
    expect(shadowOf({ shadow: 'ranked' })).toBe('ranked');
    expect(compile({ strategy: 'passthrough', shadow: 'tool-search' }).problems).toMatchObject([
      { path: 'agents.default.tool_discovery.shadow' },
    ]);
  });

  it('has the most results of a search, with the default and the limits of the proxy’s', () => {
    const most = (settings: object) =>
      compile({ strategy: 'ranked', ...settings }).configuration?.agentDiscovery?.maxSearchResults;
    expect(most({})).toBe(5);
    expect(most({ max_search_results: 7 })).toBe(7);
    expect(compile({ strategy: 'ranked', max_search_results: 0 }).problems).toMatchObject([
      { write: 'a whole number from 1 to 1000' },
    ]);
  });
});

describe('the searches of a run', () => {
  const evaluator = { tool: (key: string) => ({ type: key === 'find' ? 'search_tools' : 'other' }) } as never;
  const step = (action: string, observation: string, outcome: 'ok' | 'execution' = 'ok') => ({
    ...{ action, observation, outcome, iteration: 2, arguments: '{"query":"q"}' },
  });
  const result = (...names: string[]): string =>
    JSON.stringify({ tools: names.map((name) => ({ name })), by: 'regex', fail_open: null, note: '' });
  const foundIn = (...history: ReturnType<typeof step>[]) => searchesIn(history, evaluator).map(({ found }) => found);

  it('are what its steps name, in their order', () => {
    const history = [step('find', result('b', 'a')), step('time', result('x')), step('find', result('c'))];
    expect(searchesIn(history, evaluator)).toEqual([
      { iteration: 2, query: 'q', found: ['b', 'a'], by: 'regex', failOpen: null },
      { iteration: 2, query: 'q', found: ['c'], by: 'regex', failOpen: null },
    ]);
  });

  it('found nothing where a result is cut or hidden, and are none where the step failed', () => {
    expect(foundIn(step('find', result('a'), 'execution'))).toEqual([]);
    for (const observation of [
      result('b').slice(0, 12),
      '{"tools":"[hidden]"}',
      'null',
      '{"tools":[null,{"name":1},"c"]}',
    ])
      expect(foundIn(step('find', observation))).toEqual([[]]);
  });
});
