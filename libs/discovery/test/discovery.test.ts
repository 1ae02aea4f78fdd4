import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { sha256 } from '@sluice/contracts';
import type { Documents, Pipes, StoredDocument } from '@sluice/core';
import { Discovery, queryOf } from '@sluice/discovery';
import type { DiscoveryReport, DiscoveryRequest, RequestTool } from '@sluice/discovery';
import { TokenCounter } from '@sluice/tokens';
import { parse } from 'yaml';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

function pipes(text: string): Pipes | undefined {
  const { configuration, problems } = compileConfiguration(
    { tool: {}, pipes: { tool_discovery: parse(text) as object } },
    sampleInputs,
  );
  expect(problems).toEqual([]);
  return configuration?.pipes;
}

function tool(name: string, description = ''): RequestTool {
  const raw = `{"name": "${name}",  "description": "${description}"}`;
  return { name, description, parameters: null, raw };
}

const many = Array.from({ length: 40 }, (_, index) => tool(`tool_${index}`, 'does something'));

/** Documents of one process, which is where sessions are in these tests; the stores have their own. */
function documentsHere(): Documents {
  const kept = new Map<string, StoredDocument>();
  return {
    find: (key) => Promise.resolve(kept.get(key)),
    put: (key, version, text, expiresAt) => {
      if ((kept.get(key)?.version ?? 0) !== version - 1) return Promise.resolve(false);
      kept.set(key, { version, text, expiresAt });
      return Promise.resolve(true);
    },
    sweep: () => Promise.resolve(),
  };
}

function discovering(documents = documentsHere()) {
  const reports: DiscoveryReport[] = [];
  const warnings: string[] = [];
  const clock = { now: () => 1_000 };
  const discovery = new Discovery({
    documents,
    clock,
    digest: sha256,
    counter: new TokenCounter(),
    secret: () => 'the-key-of-the-selector',
    embedder: () => Promise.reject(new Error('No model is asked here.')),
    report: (report) => reports.push(report),
    warn: (details, message) => warnings.push(`${message} ${JSON.stringify(details)}`),
  });
  const request = (of: Partial<DiscoveryRequest> = {}): DiscoveryRequest => ({
    ...{ source: 'proxy', requestId: 'r1', sessionId: 's1', iteration: 0, configVersion: 'v1' },
    ...{ tenantId: 'acme', wire: 'openai-chat', model: 'm', tools: many, query: 'go' },
    ...{ recentlyUsed: new Set<string>(), hasToolOutputs: false, session: 's' },
    ...of,
  });
  return { discovery, request, reports, warnings };
}

const search = '{ enabled: true, strategy: tool-search }';
const relevance = '{ enabled: true, strategy: relevance, min_tools: 2, max_tools: 3 }';

describe('discovery of a request', () => {
  it('leaves everything as it is by passthrough, and stores nothing (DS-28, DS-29)', async () => {
    const documents = documentsHere();
    const { discovery, request, reports } = discovering(documents);
    const turn = await discovery.begin(pipes('{ enabled: true }'), request());
    expect(turn.unchanged).toBe(true);
    await turn.end({ rounds: 0, called: [] });
    expect(reports[0]).toMatchObject({ bypass: 'passthrough', totalTools: 40, keptTools: 40, deferredTools: 0 });
    expect(await documents.find('s')).toBeUndefined();
  });

  it('by relevance keeps the best without a search tool, and stores the others (DS-41, DS-54, DS-117, DS-118, DS-119)', async () => {
    const documents = documentsHere();
    const { discovery, request, reports } = discovering(documents);
    const turn = await discovery.begin(pipes(relevance), request({ query: 'use tool_39' }));
    expect(turn.start.searchTool).toBeNull();
    expect(turn.start.kept).toEqual([0, 3, 39]);
    await turn.end({ rounds: 0, called: ['tool_39', 'tool_39', 'tool_7'] });
    const [report] = reports;
    expect(report).toMatchObject({ totalTools: 40, keptTools: 3, deferredTools: 37, called: ['tool_39', 'tool_7'] });
    expect(report?.calledDeferred).toBe(1);
    expect(report?.tokensAfter).toBeLessThan(report?.tokensBefore ?? 0);
    const later = await discovery.begin(pipes(search), request({ tools: many.slice(0, 5) }));
    expect((await later.search('tool_38')).added.map(({ name }) => name)).toEqual(['tool_38']);
  });

  it('by search shows the search tool alone, finds tools to the byte, and shows these from then on (DS-56, DS-57, DS-58, DS-59, DS-60, DS-102, XS-17, XB-11)', async () => {
    const { discovery, request, reports } = discovering();
    const tools = [...many, tool('read_file', 'Reads a file')];
    const turn = await discovery.begin(pipes(search), request({ tools }));
    expect(turn.start.kept).toEqual([]);
    expect(turn.start.deferred).toHaveLength(41);
    expect(turn.start.searchTool).toMatchObject({ name: 'gateway_search_tools', parameters: { required: ['query'] } });
    const found = await turn.search('READ.*file');
    expect(found.added).toEqual([{ name: 'read_file', wire: 'openai-chat', raw: tools[40]?.raw }]);
    expect(found.text).toContain('read_file: Reads a file');
    expect((await turn.search('read_file')).added).toEqual([]);
    await turn.end({ rounds: 2, called: ['read_file'] });
    expect(reports[0]?.searches.map(({ matched }) => matched)).toEqual([['read_file'], ['read_file']]);
    expect(reports[0]).toMatchObject({ rounds: 2, calledDeferred: 1 });
    const later = await discovery.begin(pipes(search), request({ tools }));
    expect(later.start.kept).toEqual([40]);
  });

  it.each([relevance, search, '{ enabled: true, strategy: ranked, min_tools: 2, max_tools: 3 }'])(
    'never hides what the conversation has used, beyond the count too: %s',
    async (settings) => {
      const { discovery, request } = discovering();
      const used = new Set(['tool_31', 'tool_32', 'tool_33', 'tool_34', 'gone']);
      const { start } = await discovery.begin(pipes(settings), request({ query: 'use tool_39', used }));
      expect(start.kept).toEqual(expect.arrayContaining([31, 32, 33, 34]));
      expect(start.deferred).not.toContain(31);
      expect([...start.kept, ...start.deferred].sort((one, other) => one - other)).toEqual(many.map((_, at) => at));
    },
  );

  it('leaves to the provider’s own search what that has found in the conversation: its list stays the same', async () => {
    const { discovery, request } = discovering();
    const settings = '{ enabled: true, strategy: tool-search, native_search: always }';
    const of = { used: new Set(['tool_31']), nativeSearch: 'provider' as const };
    const { start } = await discovery.begin(pipes(settings), request(of));
    expect(start.deferred).toContain(31);
  });

  it('defers a short list as well, and what is always kept, which a search gives (XS-10, XS-11, XS-12)', async () => {
    const { discovery, request } = discovering();
    const tools = many.slice(0, 2);
    const pipe = pipes('{ enabled: true, strategy: tool-search, always_keep: [tool_1] }');
    const turn = await discovery.begin(pipe, request({ tools }));
    expect(turn.start).toMatchObject({ kept: [], deferred: [0, 1], searchTool: { name: 'gateway_search_tools' } });
    expect((await turn.search('tool_0')).added.map(({ name }) => name)).toEqual(['tool_0', 'tool_1']);
  });

  it('gives no tool back that the caller may not use now: not by search, nor where the selector fails (DS-84, XS-20, XB-15)', async () => {
    for (const pipe of [search, '{ enabled: true, strategy: api }']) {
      const { discovery, request } = discovering();
      const former = await discovery.begin(pipes(search), request({ tools: [tool('locked'), tool('open')] }));
      await former.end({ rounds: 0, called: [] });
      const now = request({ tools: [tool('mine')], isAllowed: (name) => name !== 'locked' });
      const turn = await discovery.begin(pipes(pipe), now);
      expect((await turn.search('')).added.map(({ name }) => name)).toEqual(['mine', 'open']);
    }
  });

  it('scores by relevance what a search of the session found (DS-37, DS-103, XS-26)', async () => {
    const { discovery, request } = discovering();
    const first = await discovery.begin(pipes(search), request());
    await first.search('tool_33');
    await first.end({ rounds: 1, called: [] });
    const later = await discovery.begin(pipes(relevance), request({ query: 'nothing in common' }));
    expect(later.start.kept).toContain(33);
  });

  it('searches session and request together; a request’s definition wins (DS-104, DS-106, XS-23)', async () => {
    const { discovery, request } = discovering();
    const first = await discovery.begin(pipes(search), request({ tools: [tool('old_one'), tool('both', 'old')] }));
    await first.end({ rounds: 0, called: [] });
    const tools = [tool('new_one'), tool('both', 'new')];
    const later = await discovery.begin(pipes(search), request({ tools }));
    const denied = request({ tools, isAllowed: (name) => name !== 'old_one' });
    const without = await discovery.begin(pipes(search), denied);
    const { added } = await later.search('one|both');
    expect(added.map(({ name }) => name)).toEqual(['new_one', 'both', 'old_one']);
    expect(added[1]?.raw).toContain('new');
    const held = await without.search('one');
    expect(held.added.map(({ name }) => name)).toEqual(['new_one']);
  });

  it('leaves out a stored definition that cannot be read, with a warning that names the tool (DS-108)', async () => {
    const { discovery, request, warnings } = discovering();
    const broken = { ...tool('broken_one'), raw: '{"name":' };
    await (await discovery.begin(pipes(search), request({ tools: [broken] }))).end({ rounds: 0, called: [] });
    const turn = await discovery.begin(pipes(search), request({ tools: [tool('whole_one')] }));
    expect((await turn.search('one')).added.map(({ name }) => name)).toEqual(['whole_one']);
    expect(warnings.join()).toContain('broken_one');
  });

  it('passes a request with a tool of the search tool’s name, and says so (XS-24)', async () => {
    const { discovery, request, warnings } = discovering();
    const turn = await discovery.begin(pipes(search), request({ tools: [tool('gateway_search_tools')] }));
    expect([turn.unchanged, turn.start.bypass]).toEqual([true, 'name_clash']);
    expect(warnings).toHaveLength(1);
  });

  it('passes a wire format that is not supported, and says why (XS-31)', async () => {
    const { discovery, request } = discovering();
    const turn = await discovery.begin(pipes(search), request({ unsupported: true }));
    expect([turn.unchanged, turn.start.bypass]).toEqual([true, 'unsupported_wire']);
  });

  it('goes on without a session where the ledger is away (DS-126)', async () => {
    const away = { ...documentsHere(), find: () => Promise.reject(new Error('away')) };
    const { discovery, request, reports, warnings } = discovering(away);
    const turn = await discovery.begin(pipes(relevance), request());
    expect(turn.start.kept).toHaveLength(3);
    await turn.end({ rounds: 0, called: [] });
    expect(reports).toHaveLength(1);
    expect(warnings.join()).toContain('away');
  });

  it.each([
    [relevance, 'failed', 'tools could not be chosen'],
    ['{ enabled: true, strategy: ranked, min_tools: 2, max_tools: 3 }', 'failed', 'tools could not be chosen'],
    ['{ enabled: true, strategy: passthrough, shadow: relevance }', 'passthrough', 'the shadow strategy failed'],
  ])('passes a request whose tools cannot be chosen, and says so: %s (DS-126)', async (text, bypass, warning) => {
    const { discovery, request, reports, warnings } = discovering();
    const recentlyUsed = Object.assign(new Set<string>(), {
      has: () => {
        throw new Error('a mistake of the strategy');
      },
    });
    const turn = await discovery.begin(pipes(text), request({ recentlyUsed }));
    expect(turn.unchanged).toBe(true);
    expect(turn.keptNames).toEqual(many.map(({ name }) => name));
    await turn.end({ rounds: 0, called: [] });
    expect(reports[0]).toMatchObject({ bypass, keptTools: 40, deferredTools: 0, shadow: null });
    expect(warnings).toEqual([expect.stringContaining(warning)]);
    expect(warnings[0]).toContain('a mistake of the strategy');
  });

  it('runs a strategy beside passthrough, and reports what it would have left out of what was called', async () => {
    const { discovery, request, reports } = discovering();
    const shadow = pipes('{ enabled: true, shadow: ranked, min_tools: 2, max_tools: 2 }');
    const turn = await discovery.begin(shadow, request({ query: 'use tool_39' }));
    expect(turn.unchanged).toBe(true);
    await turn.end({ rounds: 0, called: ['tool_39', 'tool_20'] });
    expect(reports[0]?.shadow).toMatchObject({ strategy: 'ranked', missed: ['tool_20'] });
    expect(reports[0]?.shadow?.kept).toHaveLength(2);
  });

  it('reads the query of a call, blank where there is none', () => {
    expect(['{"query":"a"}', '"a"', '{}', '{"query":7}', 'no json', 'null'].map(queryOf)).toEqual([
      'a',
      'a',
      '',
      '',
      '',
      '',
    ]);
  });
});

describe('the selector of the strategy api', () => {
  const asked = async (
    answer: (request: IncomingMessage, response: ServerResponse) => void,
    {
      api = '',
      timeout = '20s',
      query = 'some.*thing',
    }: { readonly [key in 'api' | 'timeout' | 'query']?: string } = {},
  ) => {
    const bodies: { readonly body: unknown; readonly authorization: string | undefined }[] = [];
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        bodies.push({ body: JSON.parse(text), authorization: request.headers.authorization });
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const { discovery, request, reports, warnings } = discovering();
      const settings =
        api === '' ? `{ endpoint: "http://127.0.0.1:${port}/search", api_key: "\${KEY}", timeout: ${timeout} }` : api;
      const turn = await discovery.begin(
        pipes(`{ enabled: true, strategy: api, always_keep: [tool_5], max_search_results: 2, api: ${settings} }`),
        request({ tools: many.slice(0, 6) }),
      );
      expect(turn.start.kept).toEqual([]);
      const found = await turn.search(query);
      await turn.end({ rounds: 1, called: [] });
      expect(JSON.stringify(reports) + warnings.join()).not.toContain('the-key-of-the-selector');
      const [report] = reports[0]?.searches ?? [];
      return { bodies, names: found.added.map(({ name }) => name), report };
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };
  const says =
    (value: unknown, status = 200) =>
    (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(status).end(typeof value === 'string' ? value : JSON.stringify(value));
    };
  const all = many.slice(0, 6).map(({ name }) => name);

  it('gets pattern, top_k, always_keep and the deferred tools, with its key, and decides names and order (DS-73, DS-74, DS-75, DS-76, DS-77)', async () => {
    const { bodies, names, report } = await asked(
      says({ selected_names: ['tool_3', 'unknown', ' tool_1 ', 'tool_2', 'tool_4'] }),
    );
    expect(bodies).toHaveLength(1);
    expect(bodies[0]?.authorization).toBe('Bearer the-key-of-the-selector');
    expect(bodies[0]?.body).toMatchObject({ pattern: 'some.*thing', top_k: 2, always_keep: ['tool_5'] });
    expect((bodies[0]?.body as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(all);
    expect(names).toEqual(['tool_3', 'tool_1']);
    expect(report).toMatchObject({ by: 'api', failOpen: null });
  });

  it.each([
    ['http_error', says({}, 500)],
    ['http_error', says('no json')],
    ['missing_field', says({ other: 1 })],
    ['missing_field', says({ selected_names: 'tool_1' })],
    ['missing_field', says([])],
    ['http_error', (request: IncomingMessage) => void request.socket.destroy()],
    ['timeout', () => undefined],
    ['empty', says({ selected_names: [] })],
    ['not_meaningful', says({ selected_names: [' ', 'tool_1', 'tool_1'] })],
    ['not_meaningful', says({ selected_names: ['', '  '] })],
    ['unknown_names', says({ selected_names: ['nothing', 'known'] })],
  ])(
    'fails open with the reason %s (DS-79, DS-80, DS-81, DS-82, DS-83, DS-84, DS-122, XS-19)',
    async (reason, answer) => {
      const { names, report } = await asked(answer, reason === 'timeout' ? { timeout: '200ms' } : {});
      expect(names).toEqual(all);
      expect(report).toMatchObject({ by: 'all', failOpen: reason });
    },
  );

  it('is not asked where the query is blank: the first tools are given, as by the other strategies', async () => {
    const { bodies, names, report } = await asked(says({ selected_names: ['tool_3'] }), { query: ' \n' });
    expect(bodies).toEqual([]);
    expect(names).toEqual(expect.arrayContaining([...all.slice(0, 2), 'tool_5']));
    expect(names.length).toBeLessThanOrEqual(3);
    expect(report).toMatchObject({ by: 'blank', failOpen: null });
  });

  it('fails open without an endpoint, or with one that is no address (DS-78)', async () => {
    const missing = await asked(says({}), { api: '{}' });
    expect([missing.names, missing.report?.failOpen]).toEqual([all, 'missing_endpoint']);
    const unusable = await asked(says({}), { api: '{ endpoint: "https://<backend>/search" }' });
    expect([unusable.names, unusable.report?.failOpen]).toEqual([all, 'http_error']);
  });
});
