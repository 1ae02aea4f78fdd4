import { decodeStream, encodeStream, type WireName, wireNames } from '@sluice/wires';
import { type Figure, median, report } from './measure.js';

const deltas = 100;
const rounds = 41;
const turnsPerRound = 50;

/**
 * What reading one streamed turn of 100 pieces of text costs, each piece in a chunk of its own, as they come from a
 * provider.
 */
export async function benchWires(): Promise<void> {
  const alone = wireNames.map((wire) => {
    const chunks = chunksOf(wire);
    const times = Array.from({ length: rounds }, () => processorTime(() => read(wire, chunks)));
    return { wire, microseconds: median(times) };
  });
  report(`A streamed turn of ${String(deltas)} deltas, decoded: processor time`, [
    ...alone.map(({ wire, microseconds }) => ({
      name: wire,
      value: microseconds,
      unit: 'µs',
      ...(wire === 'openai-chat' ? { goal: { atMost: 100 } } : {}),
    })),
    ...(await besideTheLibrary()),
    {
      name: 'from a delta’s arrival to its receiver, median',
      value: handedOn() * 1_000,
      unit: 'µs',
      goal: { atMost: 1_000 },
    },
  ]);
}

/** Both in turn, so that what else the machine does hits both alike; nothing where the library is not installed. */
async function besideTheLibrary(): Promise<Figure[]> {
  const library = await otherLibrary();
  if (library === null) return [];
  const chunks = chunksOf('openai-chat');
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(processorTime(() => read('openai-chat', chunks)));
    theirs.push(await processorTimeOf(() => library(chunks)));
  }
  const ratios = theirs.map((time, at) => time / (ours[at] ?? time));
  return [
    { name: 'openai-chat, in turn with the AI SDK', value: median(ours), unit: 'µs' },
    { name: 'the AI SDK’s openai-compatible', value: median(theirs), unit: 'µs' },
    { name: 'its time / ours', value: median(ratios), unit: '', goal: { atLeast: 3 } },
  ];
}

/** Milliseconds from when the bytes of a turn’s first text are there until its receiver has it. */
function handedOn(): number {
  const [head, first] = chunksOf('openai-chat');
  return median(
    Array.from({ length: 1_000 }, () => {
      let heard = 0;
      const decoder = decodeStream('openai-chat', { onText: () => (heard = performance.now()) });
      decoder.push(head ?? new Uint8Array());
      const arrived = performance.now();
      decoder.push(first ?? new Uint8Array());
      return heard - arrived;
    }),
  );
}

/** A stream as a provider sends it, each event a chunk. */
function chunksOf(wire: WireName): readonly Uint8Array[] {
  const encoder = encodeStream(wire, { id: 'chatcmpl-CgVXnJ2xT8hGkq', model: 'gpt-5-mini-2025-08-07', createdAtMs: 0 });
  const texts = Array.from({ length: deltas }, (_, n) => encoder.part({ type: 'text', text: ` word${String(n)}` }));
  const usage = { inputTokens: 900, outputTokens: 120, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return [encoder.start(), ...texts, encoder.end('stop', usage)].filter(({ length }) => length > 0);
}

function read(wire: WireName, chunks: readonly Uint8Array[]): void {
  let heard = 0;
  const decoder = decodeStream(wire, { onText: () => void heard++ });
  for (const chunk of chunks) decoder.push(chunk);
  const { parts } = decoder.end();
  if (heard !== deltas || parts.length !== 1) throw new Error(`${wire}: not the turn that was sent.`);
}

/** Microseconds of the processor for one call. */
function processorTime(work: () => void): number {
  const usage = process.cpuUsage();
  for (let turn = 0; turn < turnsPerRound; turn++) work();
  const { user, system } = process.cpuUsage(usage);
  return (user + system) / turnsPerRound;
}

async function processorTimeOf(work: () => Promise<void>): Promise<number> {
  const usage = process.cpuUsage();
  for (let turn = 0; turn < turnsPerRound; turn++) await work();
  const { user, system } = process.cpuUsage(usage);
  return (user + system) / turnsPerRound;
}

/**
 * The library that decoded streams before, if it is installed: the same chunks through its own reader, without a
 * network.
 */
async function otherLibrary(): Promise<((chunks: readonly Uint8Array[]) => Promise<void>) | null> {
  // In parts, or the build would look for it.
  const name = ['@ai-sdk', 'openai-compatible'].join('/');
  const found = (await import(name).catch(() => null)) as {
    createOpenAICompatible(settings: object): {
      chatModel(id: string): { doStream(call: object): Promise<{ stream: ReadableStream<{ type: string }> }> };
    };
  } | null;
  if (found === null) return null;
  let chunks: readonly Uint8Array[] = [];
  const provider = found.createOpenAICompatible({
    name: 'bench',
    baseURL: 'http://127.0.0.1',
    includeUsage: true,
    fetch: () =>
      Promise.resolve(new Response(ReadableStream.from(chunks), { headers: { 'content-type': 'text/event-stream' } })),
  });
  const model = provider.chatModel('m');
  return async (given) => {
    chunks = given;
    let heard = 0;
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
    const { stream } = await model.doStream({ prompt, includeRawChunks: false });
    for await (const part of stream) if (part.type === 'text-delta') heard++;
    if (heard !== deltas) throw new Error('Not the turn that was sent.');
  };
}
