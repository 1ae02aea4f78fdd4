import { afterEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ScriptedUpstream, startTestProxy } from '../proxying.js';
import { answerIn, call, contentTypeOf, searchCall, text, turnBytes } from '../scripted-model.js';
import { clients } from './clients.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const rounds = [
  [text('Ein Blick: ü, 気.'), searchCall('weather')],
  [text('Found.'), call('get_weather', { city: 'Köln' }), call('read_file', {}, 'r')],
];
const streaming = clients.filter(({ name, wire }) => !name.startsWith('ai with') && wire !== 'gemini');

it.each(streaming.map((client) => [client.name, client] as const))(
  'no cutting of the upstream’s bytes changes what %s puts together',
  async (_, { wire, api, ask }) => {
    let cuts: readonly number[] = [];
    let round = 0;
    const upstream = await ScriptedUpstream.start(async (__, response) => {
      const parts = rounds[round % rounds.length] ?? [];
      const bytes = turnBytes(wire, true, { parts, id: `turn-${String(round++)}` });
      const places = cuts.map((cut) => cut % bytes.length).toSorted((one, other) => one - other);
      const pieces = [...places, bytes.length].map((place, at) => bytes.subarray(places[at - 1] ?? 0, place));
      await answerIn(response, contentTypeOf(wire, true), pieces);
    });
    const proxy = await startTestProxy(`
pipes: { tool_discovery: { enabled: true, strategy: tool-search } }
proxy: { upstreams: { main: { api: ${api}, url: '${upstream.url}' } } }
`);
    open.push(proxy, upstream);
    let questions = 0;
    const assembled = async (places: readonly number[]): Promise<string> => {
      cuts = places;
      round = 0;
      return JSON.stringify(await ask(proxy.url, true, `Weather ${String(questions++)}?`));
    };
    const whole = await assembled([]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4_000), { maxLength: 40 }), async (places) => {
        expect(await assembled(places)).toBe(whole);
      }),
      { numRuns: 8 },
    );
  },
);
