import { describe, expect, it } from '@jest/globals';
import { compileConfiguration, foundTools } from '@sluice/core';
import { sampleInputs } from './sample-inputs.js';

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

  it('refuses the strategy of the proxy alone, with those that there are', () => {
    expect(compile({ strategy: 'api' }).problems).toMatchObject([
      { path: 'agents.default.tool_discovery.strategy', write: expect.stringContaining('tool-search') },
    ]);
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

describe('what a run found by searches', () => {
  const evaluator = { tool: (key: string) => ({ type: key === 'find' ? 'search_tools' : 'other' }) } as never;
  const step = (action: string, observation: string, outcome: 'ok' | 'execution' = 'ok') => ({
    ...{ action, observation, outcome },
  });
  const result = (...names: string[]): string => JSON.stringify({ tools: names.map((name) => ({ name })), note: '' });

  it('is what its steps name, each once, in their order', () => {
    const history = [step('find', result('b', 'a')), step('time', result('x')), step('find', result('c', 'b'))];
    expect(foundTools(history, evaluator)).toEqual(['b', 'a', 'c']);
  });

  it('is nothing of a step that failed, or whose result is cut or hidden', () => {
    const history = [
      step('find', result('a'), 'execution'),
      step('find', result('b').slice(0, 12)),
      step('find', '{"tools":"[hidden]","note":"n"}'),
      step('find', 'null'),
      step('find', '{"tools":[null,{"name":1},"c"]}'),
    ];
    expect(foundTools(history, evaluator)).toEqual([]);
  });
});
