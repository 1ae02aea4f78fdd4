import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import type { Compilation } from '@sluice/configuration';
import type { DiscoveryPipe } from '@sluice/core';
import { parse } from 'yaml';
import { sampleInputs } from './sample-inputs.js';

const compile = (text: string, rest: object = {}): Compilation =>
  compileConfiguration({ tool: {}, ...rest, ...(parse(text) as object) }, sampleInputs);

const discovery = (text: string): DiscoveryPipe | undefined =>
  compile(`pipes: { tool_discovery: ${text} }`).configuration?.pipes?.toolDiscovery;

const problemPaths = (text: string): readonly string[] =>
  compile(`pipes: { tool_discovery: ${text} }`).problems.map(({ path }) => path.replace('pipes.tool_discovery.', ''));

describe('pipes.tool_discovery', () => {
  it('loads the example by relevance as it stands (DS-12, DS-13, DS-14, DS-134)', () => {
    const { configuration } = compile(`
pipes:
  tool_discovery:
    enabled: true
    strategy: relevance
    min_tools: 5
    max_tools: 25
    target_ratio: 0.8
    always_keep: ["read_file"]
`);
    expect(configuration?.pipes?.toolDiscovery).toMatchObject({
      enabled: true,
      strategy: 'relevance',
      minTools: 5,
      maxTools: 25,
      targetRatio: 0.8,
      alwaysKeep: ['read_file'],
    });
  });

  it('loads the example by search as it stands (DS-24, DS-25, DS-135)', () => {
    const { configuration } = compile(`
pipes:
  tool_discovery:
    enabled: true
    strategy: tool-search
    search_tool_name: gateway_search_tools
    max_search_results: 5
    always_keep: ["read_file"]
`);
    expect(configuration?.pipes?.toolDiscovery).toMatchObject({
      strategy: 'tool-search',
      searchToolName: 'gateway_search_tools',
      maxSearchResults: 5,
    });
  });

  it('loads the example by API as it stands, with the variable’s name in place of the key (DS-16, DS-17, DS-18, DS-136)', () => {
    const { configuration } = compile(`
pipes:
  tool_discovery:
    enabled: true
    strategy: api
    api:
      endpoint: "https://<backend>/v1/tool-discovery/search"
      api_key: "\${TOOL_DISCOVERY_API_KEY}"
      timeout: 2s
    max_search_results: 5
`);
    expect(configuration?.pipes?.toolDiscovery.api).toEqual({
      endpoint: 'https://<backend>/v1/tool-discovery/search',
      apiKeyEnv: 'TOOL_DISCOVERY_API_KEY',
      timeoutMs: 2_000,
    });
  });

  it('is off where nothing is written, and has the defaults of the document (DS-19, DS-20, DS-21, DS-22, DS-138, XS-8)', () => {
    expect(compile('').configuration?.pipes).toBeUndefined();
    const { configuration } = compile('pipes: {}');
    expect(configuration?.pipes?.toolOutput.enabled).toBe(false);
    expect(configuration?.pipes?.toolDiscovery).toEqual({
      enabled: false,
      strategy: 'passthrough',
      minTools: 5,
      maxTools: 25,
      targetRatio: 0.8,
      alwaysKeep: [],
      enableSearchFallback: false,
      searchToolName: 'gateway_search_tools',
      maxSearchResults: 5,
      api: { endpoint: null, apiKeyEnv: null, timeoutMs: 2_000 },
      shadow: null,
    });
  });

  it.each([
    ['relevance', true, false],
    ['tool-search', false, true],
    ['api', false, true],
    ['ranked', true, true],
    ['passthrough', true, false],
  ])(
    '%s with enable_search_fallback %s has the search tool: %s (DS-23, DS-26, DS-27)',
    (strategy, written, effective) => {
      const found = discovery(`{ strategy: ${strategy}, enable_search_fallback: ${String(written)} }`);
      expect(found?.enableSearchFallback).toBe(effective);
    },
  );

  it('passes everything by an unknown strategy, with a finding (DS-127)', () => {
    const { configuration, findings } = compile('pipes: { tool_discovery: { enabled: true, strategy: relevanc } }');
    expect(configuration?.pipes?.toolDiscovery.strategy).toBe('passthrough');
    expect(findings).toEqual([
      {
        kind: 'unknown_strategy',
        path: 'pipes.tool_discovery.strategy',
        message: expect.stringContaining('did you mean `relevance`?'),
      },
    ]);
  });

  it('leaves searches to the provider only where that is written', () => {
    expect(discovery('{ strategy: tool-search, native_search: never }')).not.toHaveProperty('nativeSearch');
    expect(discovery('{ native_search: auto }')?.nativeSearch).toEqual({ when: 'auto', kind: 'bm25' });
    expect(discovery('{ native_search: always, native_search_kind: regex }')?.nativeSearch?.kind).toBe('regex');
    expect(compile('pipes: { tool_discovery: { native_search: sometimes } }').problems).toHaveLength(1);
  });

  it('warns of a min_tools above max_tools (DS-50)', () => {
    const { findings } = compile('pipes: { tool_discovery: { min_tools: 10, max_tools: 5 } }');
    expect(findings.map(({ kind }) => kind)).toEqual(['min_above_max']);
  });

  it.each([
    ['{ min_tools: -1, max_tools: 2.5, max_search_results: 0 }', ['min_tools', 'max_tools', 'max_search_results']],
    ['{ target_ratio: 1.1 }', ['target_ratio']],
    ['{ target_ratio: .nan }', ['target_ratio']],
    ['{ api: { timeout: 2 } }', ['api.timeout']],
    ['{ api: { timeout: 0s } }', ['api.timeout']],
    ['{ api: { timeout: 2 seconds } }', ['api.timeout']],
    ['{ strategy: 7 }', ['strategy']],
    ['{ search_tool_name: "search tools" }', ['search_tool_name']],
    ['{ shadow: tool-search }', ['shadow']],
    ['{ provider: unknown }', ['provider']],
    ['{ api: { endpoint: "https://user:word@there" } }', ['api.endpoint']],
    ['{ strateg: relevance }', ['strateg']],
  ])('refuses %s (DS-18, DS-21)', (text, paths) => {
    expect(problemPaths(text)).toEqual(paths);
  });

  it('refuses a key in the file, and does not repeat it (DS-17)', () => {
    const { problems } = compile('pipes: { tool_discovery: { api: { api_key: sk-0123456789abcdef } } }');
    expect(problems.map(({ path }) => path)).toEqual(['pipes.tool_discovery.api.api_key']);
    expect(JSON.stringify(problems)).not.toContain('sk-0123456789abcdef');
  });

  it('says of a variable that is not set that the proxy needs it (DS-17)', () => {
    const { findings } = compile('pipes: { tool_discovery: { api: { api_key: "${NOT_SET}" } } }');
    expect(findings.map(({ kind }) => kind)).toEqual(['unset_variable']);
  });

  it('takes the endpoint of the provider that is named, unless `api` says otherwise (DS-15, XS-28)', () => {
    const providers = { selector: { endpoint: 'https://shared/search', api_key: '${SHARED}', timeout: '1m' } };
    const api = (text: string): unknown =>
      compile(`pipes: { tool_discovery: ${text} }`, { providers }).configuration?.pipes?.toolDiscovery.api;
    expect(api('{ provider: selector }')).toEqual({
      endpoint: 'https://shared/search',
      apiKeyEnv: 'SHARED',
      timeoutMs: 60_000,
    });
    expect(api('{ provider: selector, api: { endpoint: "https://own/search" } }')).toMatchObject({
      endpoint: 'https://own/search',
      apiKeyEnv: 'SHARED',
    });
  });
});
