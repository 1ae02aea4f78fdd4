import { once } from 'node:events';
import { Agent } from 'undici';
import { median, quantile, report } from '../measure.js';
import type { Figure } from '../measure.js';
import { startServed, startSluice } from './child.js';
import type { Child } from './child.js';
import { clientKey, startLitellm } from './litellm.js';
import { manyTools } from './ranking.js';
import { chatTool, readSample } from './samples.js';

const streams = 500;
const inFlight = 32;

/**
 * What the proxy costs in front of a model API that answers at once: time, throughput and memory, each in a process
 * of its own.
 */
export async function benchProxy(): Promise<void> {
  const upstream = await startServed('upstream');
  const bare = await startServed('bare', upstream.url);
  const litellm = await startLitellm(upstream.url);
  try {
    for (const tools of [100, 5_000]) await firstByte(tools, false, { upstream, bare, litellm });
    for (const tools of [100, 5_000]) await firstByte(tools, true, { upstream, bare, litellm: null });
    await throughput({ upstream, bare, litellm });
    await throughputOfTools({ upstream, bare });
    await memory({ upstream, litellm });
  } finally {
    for (const child of [litellm, bare, upstream]) await child?.close();
  }
}

interface Around {
  readonly upstream: Child;
  readonly bare: Child;
  /** Null where it is not installed. */
  readonly litellm: Child | null;
}

const configuration = (url: string, pipe: string): string => `
tool: {}
proxy: { upstreams: { model: { api: openai, url: '${url}' } } }
pipes: { tool_discovery: ${pipe} }
`;

const pipes: Readonly<Record<string, string>> = {
  off: '{ enabled: false }',
  passthrough: '{ enabled: true, strategy: passthrough }',
  relevance: '{ enabled: true, strategy: relevance }',
  ranked: '{ enabled: true, strategy: ranked }',
  'tool-search': '{ enabled: true, strategy: tool-search }',
};

/** Most that a strategy may add to the first byte, in milliseconds: with a repeated list, and with a fresh one. */
const goals: Readonly<Record<number, readonly [number, number]>> = { 100: [1, 3], 5_000: [5, 60] };
const mostResident = 300;

/**
 * The ways by turns, each with a question of its own, so that what else the machine does falls on all alike. A fresh
 * list has other descriptions in each request.
 */
async function firstByte(count: number, isFresh: boolean, { upstream, bare, litellm }: Around): Promise<void> {
  const { tools, questions } = readSample('metatool');
  const many = manyTools(tools, count);
  const list = many.map(chatTool);
  const rounds = count > 1_000 ? 40 : 200;
  // It takes a second for so many.
  const other = count > 1_000 ? null : litellm;
  const figures: Figure[] = [];
  let bytes = 0;
  let asked = 0;
  for (const [strategy, pipe] of Object.entries(pipes)) {
    if (isFresh && strategy === 'relevance') continue;
    const sluice = await startSluice(configuration(upstream.url, pipe));
    const client = new Agent({ connections: 1 });
    const ways = [upstream, bare, sluice, ...(strategy === 'off' && other !== null ? [other] : [])];
    const times = ways.map((): number[] => []);
    let before = NaN;
    let work: number | undefined;
    let resident: number | undefined;
    try {
      for (let round = -5; round < rounds; round++) {
        if (round === 0) before = await sluice.processor();
        const [question = ''] = questions[asked++ % questions.length] ?? [];
        for (const [at, { url }] of ways.entries()) {
          const content = `${question} (${String(asked)})`;
          const mark = ` (${String(asked)}.${String(at)})`;
          const sent = isFresh
            ? many.map((tool) => chatTool({ ...tool, description: `${tool.description}${mark}` }))
            : list;
          const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }], tools: sent });
          bytes = body.length;
          const ms = await untilFirstByte(client, url, body);
          if (round >= 0) times[at]?.push(ms);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      work = ((await sluice.processor()) - before) / rounds;
      resident = await sluice.resident();
    } finally {
      await client.destroy();
      await sluice.close();
    }
    const [direct = NaN, plain = NaN, ours = NaN, theirs = NaN] = times.map(median);
    if (strategy === 'off')
      figures.push(
        { name: 'direct, median', value: direct, unit: 'ms' },
        { name: 'added by a bare undici proxy', value: plain - direct, unit: 'ms' },
        ...(other === null ? [] : [{ name: 'added by LiteLLM’s proxy', value: theirs - direct, unit: 'ms' }]),
      );
    figures.push({
      ...{ name: `added by Sluice, ${strategy}`, value: ours - direct, unit: 'ms' },
      goal: { atMost: goals[count]?.[isFresh ? 1 : 0] ?? NaN },
    });
    figures.push(
      { name: '    its processor time for a request, records included', value: work ?? NaN, unit: 'ms' },
      { name: '    its memory afterwards', value: resident ?? NaN, unit: 'MB', goal: { atMost: mostResident } },
    );
  }
  const what = `${count} tools (${Math.round(bytes / 1_000)} KB)${isFresh ? ', other ones in each' : ''}`;
  report(`Time to the first byte, ${what}, one request at a time`, figures);
}

async function untilFirstByte(client: Agent, url: string, body: string): Promise<number> {
  const started = performance.now();
  const { statusCode, body: answer } = await client.request({ ...post(url), body });
  let first = NaN;
  for await (const chunk of answer) {
    if (Number.isNaN(first) && (chunk as Buffer).length > 0) first = performance.now() - started;
  }
  if (statusCode !== 200 || Number.isNaN(first)) throw new Error(`${url} answered ${String(statusCode)}.`);
  return first;
}

/** Requests without tools through both proxies, by turns. */
async function throughput({ upstream, bare, litellm }: Around): Promise<void> {
  const sluice = await startSluice(configuration(upstream.url, pipes['off'] ?? ''));
  const others = litellm === null ? [] : [{ child: litellm, calls: 50 }];
  const ways = [{ child: bare, calls: 3_000 }, { child: sluice, calls: 3_000 }, ...others];
  const rates = ways.map((): number[] => []);
  const work = ways.map((): number[] => []);
  try {
    for (let round = -1; round < 7; round++)
      for (const [at, { child, calls }] of ways.entries()) {
        const [began, before] = [performance.now(), await child.processor()];
        await send(child.url, calls);
        if (round < 0) continue;
        rates[at]?.push(calls / ((performance.now() - began) / 1_000));
        work[at]?.push(((await child.processor()) - before) / calls);
      }
  } finally {
    await sluice.close();
  }
  const [bareRate = NaN, ownRate = NaN, otherRate = NaN] = rates.map(median);
  const [bareWork = NaN, ownWork = NaN, otherWork = NaN] = work.map(median);
  report(`Throughput of requests that pass, ${inFlight} in flight`, [
    { name: 'a bare undici proxy', value: bareRate, unit: '1/s' },
    { name: 'Sluice, discovery off / bare', value: ownRate / bareRate, unit: '', goal: { atLeast: 0.8 } },
    { name: 'a request through the bare proxy, processor time', value: bareWork, unit: 'ms' },
    { name: 'a request through Sluice, processor time', value: ownWork, unit: 'ms' },
    ...(litellm === null
      ? []
      : [
          { name: 'LiteLLM’s proxy / bare', value: otherRate / bareRate, unit: '' },
          { name: 'a request through LiteLLM’s proxy, processor time', value: otherWork, unit: 'ms' },
        ]),
  ]);
}

/** Requests with 100 tools, each with a question of its own, through a bare proxy and under `ranked`, by turns. */
async function throughputOfTools({ upstream, bare }: Pick<Around, 'upstream' | 'bare'>): Promise<void> {
  const { tools, questions } = readSample('metatool');
  const list = JSON.stringify(manyTools(tools, 100).map(chatTool));
  const body = (at: number): string => {
    const [question = ''] = questions[at % questions.length] ?? [];
    const messages = JSON.stringify([{ role: 'user', content: `${question} (${String(at)})` }]);
    return `{"model":"m","messages":${messages},"tools":${list}}`;
  };
  const sluice = await startSluice(configuration(upstream.url, pipes['ranked'] ?? ''));
  const ways = [bare, sluice];
  const [rates, work] = [ways.map((): number[] => []), ways.map((): number[] => [])];
  const calls = 1_000;
  try {
    for (let round = -1; round < 7; round++)
      for (const [at, child] of ways.entries()) {
        const [began, before] = [performance.now(), await child.processor()];
        await send(child.url, calls, (call) => body((round + 2) * calls + call));
        if (round < 0) continue;
        rates[at]?.push(calls / ((performance.now() - began) / 1_000));
        work[at]?.push(((await child.processor()) - before) / calls);
      }
  } finally {
    await sluice.close();
  }
  const [bareRate = NaN, ownRate = NaN] = rates.map(median);
  const [bareWork = NaN, ownWork = NaN] = work.map(median);
  report(`Throughput of requests with 100 tools (32 KB), ${inFlight} in flight`, [
    { name: 'a bare undici proxy', value: bareRate, unit: '1/s' },
    { name: 'Sluice, ranked / bare', value: ownRate / bareRate, unit: '', goal: { atLeast: 0.6 } },
    { name: 'a request through the bare proxy, processor time', value: bareWork, unit: 'ms' },
    { name: 'a request through Sluice, processor time', value: ownWork, unit: 'ms' },
  ]);
}

const hello = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });

async function send(url: string, calls: number, bodyOf = (_: number): string => hello): Promise<void> {
  // Connections that rest while another way has its turn may be closed.
  const client = new Agent({ connections: inFlight });
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun++ < calls) {
      const body = bodyOf(begun);
      const { statusCode, body: answer } = await client.request({ ...post(url), body });
      if (statusCode !== 200) throw new Error(`${url} answered ${String(statusCode)}: ${await answer.text()}`);
      await answer.dump();
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, caller));
  } finally {
    await client.destroy();
  }
}

/** Resident memory of the whole process while so many streams are open, each with a word every 200 ms. */
async function memory({ upstream, litellm }: Pick<Around, 'upstream' | 'litellm'>): Promise<void> {
  const { tools } = readSample('metatool');
  const list = manyTools(tools, 100).map(chatTool);
  const figures: Figure[] = [];
  for (const [name, pipe] of Object.entries(pipes)) {
    if (name !== 'off' && name !== 'tool-search') continue;
    const sluice = await startSluice(configuration(upstream.url, pipe));
    try {
      figures.push({ name: `Sluice, ${name}: without any`, value: await sluice.resident(), unit: 'MB' });
      const most = await withStreams(sluice, list);
      figures.push({ name: `Sluice, ${name}: most with ${streams}`, value: most, unit: 'MB', goal: { atMost: 200 } });
    } finally {
      await sluice.close();
    }
  }
  if (litellm !== null)
    figures.push({ name: 'LiteLLM’s proxy, without any', value: await litellm.resident(), unit: 'MB' });
  report(`Memory of ${streams} streams at once, each asked with 100 tools`, figures);
}

async function withStreams(child: Child, tools: readonly object[]): Promise<number> {
  const client = new Agent({ connections: streams, bodyTimeout: 0, headersTimeout: 120_000 });
  const seen: number[] = [];
  try {
    const opened = Array.from({ length: streams }, async (_, at) => {
      const messages = [{ role: 'user', content: `Question ${String(at)}` }];
      const body = JSON.stringify({ model: 'slow', stream: true, messages, tools });
      const { statusCode, body: answer } = await client.request({ ...post(child.url), body });
      if (statusCode !== 200) throw new Error(`${child.url} answered ${String(statusCode)}.`);
      answer.on('error', () => undefined);
      await once(answer, 'data');
      answer.resume();
    });
    await Promise.all(opened);
    for (let look = 0; look < 20; look++) {
      seen.push(await child.resident());
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  } finally {
    await client.destroy();
  }
  return quantile(seen, 1);
}

function post(url: string) {
  return {
    ...{ origin: url, path: '/v1/chat/completions', method: 'POST' as const },
    headers: { 'content-type': 'application/json', authorization: `Bearer ${clientKey}` },
  };
}
