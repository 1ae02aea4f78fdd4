import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSplitter, encodeRequest, type TurnPart, wireNames, type WireName } from '@sluice/wires';
import { ScriptedUpstream, startTestProxy } from './proxying.js';
import {
  answerIn,
  apiOf,
  call,
  contentTypeOf,
  pathOf,
  searchCall,
  searchName,
  text,
  tools,
  turnBytes,
} from './scripted-model.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const strategies: Readonly<Record<string, string>> = {
  passthrough: 'strategy: passthrough',
  relevance: 'strategy: relevance, min_tools: 1, target_ratio: 0.4',
  ranked: 'strategy: ranked, min_tools: 1, target_ratio: 0.4',
  'tool-search': 'strategy: tool-search',
  // Without an endpoint a search gives all tools.
  api: 'strategy: api',
  native: 'strategy: tool-search, native_search: always',
};

interface Golden {
  /** What the model was sent, in order. */
  readonly requests: readonly string[];
  /** What the client was sent: the data of each event. */
  readonly stream: readonly string[];
}

/** One conversation: the model searches where it is given the search tool, then calls a tool. */
async function conversation(wire: WireName, settings: string): Promise<Golden> {
  let round = 0;
  const upstream = await ScriptedUpstream.start(async ({ body }, response) => {
    const searches = round === 0 && body.includes(searchName);
    const parts: TurnPart[] = searches
      ? [text('Let me look.'), searchCall('weather')]
      : [text('Found.'), call('get_weather', { city: 'Rome' })];
    const bytes = turnBytes(wire, true, { parts, id: `turn-${String(round++)}` });
    await answerIn(response, contentTypeOf(wire, true), [bytes]);
  });
  const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, ${settings} } }
proxy: { upstreams: { main: { api: ${apiOf(wire)}, url: '${upstream.url}' } } }
`);
  open.push(proxy, upstream);
  const { body } = encodeRequest(wire, {
    ...{ model: wire === 'gemini' || wire.startsWith('bedrock') ? '' : 'm', instructions: '', toolChoice: null },
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'What is the weather of the city?' }] }],
    tools: tools as never,
    ...{ maxOutputTokens: 100, temperature: null, topP: null, stopSequences: [], stream: true },
  });
  const answer = await fetch(proxy.url + pathOf(wire, true), { method: 'POST', body });
  const splitter = createSplitter(wire);
  const events = [...splitter.push(Buffer.from(await answer.arrayBuffer())), ...splitter.end()];
  return {
    requests: upstream.received.map(({ body: sent }) => sent.toString()),
    stream: events.map(({ data, raw }) => data ?? Buffer.from(raw).toString('latin1')),
  };
}

/** Made once by this code and read by eye; `SLUICE_GOLDEN=write` writes it again. */
const file = 'apps/proxy/test/golden/conversations.json';
const held = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Golden>) : {};
const isWritten = process.env['SLUICE_GOLDEN'] === 'write';

const cases = wireNames.flatMap((wire) => Object.keys(strategies).map((strategy) => [wire, strategy] as const));

describe('a streamed conversation', () => {
  it.each(cases)('over %s under %s is the golden one (DS-110, DS-111, DS-112, DS-113)', async (wire, strategy) => {
    const found = await conversation(wire, strategies[strategy] ?? '');
    const name = `${wire}, ${strategy}`;
    if (isWritten) {
      held[name] = found;
      writeFileSync(file, `${JSON.stringify(held, null, 2)}\n`);
    }
    expect(found).toEqual(held[name]);
    expect(found.stream.join('')).not.toContain(searchName);
  });

  it('over Responses numbers its events in the order in which they come', () => {
    for (const [name, { stream }] of Object.entries(held)) {
      if (!name.startsWith('openai-responses')) continue;
      const numbers = stream.map((data) => (JSON.parse(data) as { sequence_number: number }).sequence_number);
      expect([name, numbers]).toEqual([name, numbers.map((_, at) => at)]);
    }
  });

  it('has a golden one for each wire and strategy, and no other', () => {
    expect(Object.keys(held).sort()).toEqual(cases.map((one) => one.join(', ')).sort());
  });
});
