import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createModel } from '@sluice/model';
import { send, startEndpoint, type Endpoint } from '../libs/model/test/wires/endpoint.js';
import { serverSentEvent } from '../libs/model/test/wires/wire.js';
import { startSystem, type TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = (url: string, name: string): string => `
tool:
  tell-time: { type: get_current_time, description: Tells the time of a zone }
  list-files: { type: list_files, description: Lists the files of the workspace, defer_loading: true }
  read-notes: { type: read_file, description: Reads a file, defer_loading: false }
  find-text: { type: search_files, description: Finds a text in files }
  look: { type: search_tools }
policy: { allowed_tools: [tell-time, list-files, read-notes, find-text, look] }
agents:
  default:
    tool_discovery: { strategy: ranked, min_tools: 1, max_tools: 1, native_search: auto, native_search_kind: regex }
model: { provider: anthropic, name: ${name}, base_url: '${url}', api_key_env: TEST_KEY }
`;

const search = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'tool_search_tool_regex',
  input: { pattern: 'file' },
};
const found = {
  ...{ type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1' },
  content: {
    type: 'tool_search_tool_search_result',
    tool_references: [{ type: 'tool_reference', tool_name: 'core__list-files' }],
  },
};
const use = { type: 'tool_use', id: 'toolu_1', name: 'core__list-files', input: {} };

/** A turn of Claude’s as its API streams it. */
function events(blocks: readonly object[], stop_reason: string): readonly Buffer[] {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 9 } };
  const all: object[] = [{ type: 'message_start', message }];
  blocks.forEach((block, index) => {
    const { input } = block as { readonly input?: object };
    all.push({
      type: 'content_block_start',
      ...{ index, content_block: input === undefined ? block : { ...block, input: {} } },
    });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    if (input !== undefined) all.push({ type: 'content_block_delta', index, delta });
    all.push({ type: 'content_block_stop', index });
  });
  all.push({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } }, { type: 'message_stop' });
  return all.map((one) => serverSentEvent(one, (one as { readonly type: string }).type));
}

interface Sent {
  readonly tools: readonly { readonly name: string; readonly defer_loading?: boolean; readonly type?: string }[];
  readonly messages: readonly { readonly role: string; readonly content: readonly object[] }[];
}

interface Given {
  readonly system: TestSystem;
  readonly sent: readonly Sent[];
  readonly endpoint: Endpoint;
}

async function run(name: string): Promise<Given> {
  const endpoint = await startEndpoint();
  endpoint.respond = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const isFirst = endpoint.received.length === 1;
    const blocks = isFirst
      ? [{ type: 'text', text: 'Let me look.' }, search, found, use]
      : [{ type: 'text', text: 'None.' }];
    await send(response, events(blocks, isFirst ? 'tool_use' : 'end_turn'));
    response.end();
  };
  const text = configuration(endpoint.url, name);
  const settings = {
    ...{ provider: 'anthropic' as const, name, baseUrl: endpoint.url, apiKeyEnv: 'TEST_KEY' },
    ...{ region: null, maxOutputTokens: 1_000 },
  };
  const model = await createModel(settings, { secret: () => 'key' });
  const system = await startSystem(text, model);
  await system.ask({ requestId: 'native', group: ['*'], question: 'Find a text, please' });
  return { system, endpoint, sent: endpoint.received.map(({ body }) => body as unknown as Sent) };
}

async function discoveryOf(system: TestSystem): Promise<object | undefined> {
  for (;;) {
    const [first] = await system.all('agent.discovery');
    if (first !== undefined) return first.record;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('an agent whose model’s provider searches tools itself', () => {
  let given: Given;
  beforeAll(async () => {
    given = await run('claude-opus-4-6');
  });
  afterAll(async () => {
    await given.system.close();
    await given.endpoint.close();
  });

  it('sends what is not shown for that search, and no other search, as the configuration says of each tool (D-43b, XB-21, XB-22)', () => {
    const [first] = given.sent;
    const marked = first?.tools.map(({ name, defer_loading }) => [name, defer_loading ?? false]);
    expect(marked).toEqual([
      ['core__read-notes', false],
      ['core__find-text', false],
      ['core__tell-time', true],
      ['core__list-files', true],
      ['tool_search_tool_regex', false],
    ]);
    expect(given.endpoint.received[0]?.headers['anthropic-beta']).toBe('advanced-tool-use-2025-11-20');
  });

  it('repeats what the provider found, with the same list of tools', () => {
    const [first, second] = given.sent;
    expect(second?.tools).toEqual(first?.tools);
    expect(second?.messages[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Let me look.' }, search, found, use],
    });
  });

  it('runs what was found, and says in the records what was shown, searched and called', async () => {
    const { system } = given;
    const [call] = await system.all('agent.tool-calls');
    expect(call?.record.model).toMatchObject({
      shown: ['core__read-notes', 'core__find-text'],
      nativeSearch: 'provider',
    });
    const [step] = await system.all('agent.steps');
    expect(step?.record.steps).toMatchObject([{ action: 'list-files', outcome: 'ok' }]);
    expect(await discoveryOf(system)).toMatchObject({
      ...{ source: 'agent', nativeSearch: 'provider', keptTools: 2, deferredTools: 2, calledDeferred: 1 },
      searches: [{ by: 'provider', query: 'file' }],
    });
  });

  it('agrees with itself in a replay', async () => {
    const decisions = await replayed(given.system.bus, null);
    expect(decisions.length).toBeGreaterThan(3);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('an agent whose model has no such search', () => {
  it('is sent the shown tools alone, without a mark, and the record says why (D-43, D-43b)', async () => {
    const { system, endpoint, sent } = await run('claude-haiku-4-5');
    try {
      expect(sent[0]?.tools.map(({ name }) => name)).toEqual(['core__read-notes', 'core__find-text', 'core__look']);
      expect(JSON.stringify(sent)).not.toMatch(/defer_loading|tool_search/);
      expect(endpoint.received[0]?.headers['anthropic-beta']).toBeUndefined();
      const [call] = await system.all('agent.tool-calls');
      expect(call?.record.model).toMatchObject({ nativeSearch: null });
      expect(await discoveryOf(system)).toMatchObject({ nativeSearch: 'unsupported_model', searches: [] });
    } finally {
      await system.close();
      await endpoint.close();
    }
  });
});
