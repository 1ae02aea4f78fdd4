import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFolderContent, readContentKeys } from '@sluice/content';
import type { ContentStore } from '@sluice/core';
import { startServices, startUpstream } from './mcp/children.js';
import { connected, timeOf } from './mcp/client.js';
import { median, report } from './measure.js';

const bytes = randomBytes(1_000_000);
const owner = { tenantId: 'acme', runId: 'r' };
const rounds = 40;

const configuration = (upstream: string): string => `
tool:
  ping: { type: mcp-tool, group: [work] }
  picture: { type: mcp-tool, group: [work] }
mcp:
  servers: { upstream: { url: '${upstream}/mcp' } }
  tools:
    ping: { server: upstream, tool: ping, effect: read_only, redaction: whole }
    picture: { server: upstream, tool: picture, effect: read_only, redaction: whole }
policy: { allowed_tools: [ping, picture] }
limits: { max_iterations: 1000 }
`;

/**
 * What content costs: a megabyte in a folder, sealed and in the clear, beside a file that is written as durably; and a
 * call that answers a picture, direct and through Sluice, beside one that answers a word.
 */
export async function benchContent(): Promise<void> {
  await benchStore();
  await benchCalls();
}

async function benchStore(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const clock = { now: () => Date.now() };
  const maxBytes = 10_000_000;
  const clear = await openFolderContent(join(folder, 'clear'), { clock, keys: [], maxBytes });
  const keys = readContentKeys('11'.repeat(32));
  const sealed = await openFolderContent(join(folder, 'sealed'), { clock, keys, maxBytes });
  const times = { file: [[], []], clear: [[], []], sealed: [[], []] } as Record<string, [number[], number[]]>;
  try {
    for (let round = 0; round < rounds; round++) {
      // Other bytes each time: what is there already is not written again.
      bytes.writeUInt32LE(round);
      const file = join(folder, String(round));
      times['file']?.[0].push(await timeOf(() => writeDurably(file)));
      times['file']?.[1].push(await timeOf(() => readFile(file)));
      for (const [name, store] of Object.entries({ clear, sealed })) {
        let hash = '';
        times[name]?.[0].push(await timeOf(async () => ({ hash } = await store.put(owner, 'image/png', bytes, null))));
        times[name]?.[1].push(await timeOf(() => readAll(store, hash)));
      }
    }
    const [file, plain, secret] = ['file', 'clear', 'sealed'].map((name) =>
      (times[name] ?? []).map((each) => median(each)),
    ) as [number[], number[], number[]];
    const of = (figures: readonly number[], at: number): number => figures[at] ?? NaN;
    report('Content: a megabyte in the store of the data folder', [
      { name: 'a file of a megabyte, written to the disk', value: of(file, 0), unit: 'ms' },
      { name: 'put in the clear / that file', value: of(plain, 0) / of(file, 0), unit: '' },
      { name: 'put, sealed / that file', value: of(secret, 0) / of(file, 0), unit: '' },
      { name: 'the file, read', value: of(file, 1), unit: 'ms' },
      { name: 'read in the clear / that', value: of(plain, 1) / of(file, 1), unit: '' },
      { name: 'read and opened / that', value: of(secret, 1) / of(file, 1), unit: '' },
      { name: 'put, sealed', value: of(secret, 0), unit: 'ms' },
      { name: 'read and opened', value: of(secret, 1), unit: 'ms' },
    ]);
  } finally {
    await Promise.all([clear.close(), sealed.close()]);
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchCalls(): Promise<void> {
  const upstream = await startUpstream();
  const direct = await connected(`${upstream.url}/mcp`);
  const services = await startServices(configuration(upstream.url), { audit: false });
  const through = await connected(services.url);
  const ways = [
    [direct, 'ping'],
    [direct, 'picture'],
    [through, 'upstream___ping'],
    [through, 'upstream___picture'],
  ] as const;
  const times = ways.map((): number[] => []);
  try {
    for (let round = 0; round < rounds; round++)
      for (const [index, [client, name]] of ways.entries())
        times[index]?.push(await timeOf(() => client.callTool({ name, arguments: {} })));
    const [word = NaN, picture = NaN, ours = NaN, kept = NaN] = times.map((each) => median(each.slice(5)));
    report('Content: an MCP call that answers 100 KB of a picture, over HTTP', [
      { name: 'direct, a word', value: word, unit: 'ms' },
      { name: 'direct, the picture', value: picture, unit: 'ms' },
      { name: 'through Sluice, a word', value: ours, unit: 'ms' },
      { name: 'through Sluice, the picture: kept, and read back for the client', value: kept, unit: 'ms' },
      { name: 'what the picture adds, through Sluice / direct', value: (kept - ours) / (picture - word), unit: '' },
    ]);
  } finally {
    await direct.close();
    await through.close();
    await services.close();
    await upstream.close();
  }
}

async function writeDurably(file: string): Promise<void> {
  const handle = await open(file, 'w');
  await handle.writeFile(bytes);
  await handle.sync();
  await handle.close();
}

async function readAll(store: Pick<ContentStore, 'open'>, hash: string): Promise<void> {
  const found = await store.open(owner, hash);
  if (found === undefined) throw new Error('What was put is not there.');
  for await (const piece of found.bytes()) if (piece.length === 0) throw new Error('A piece has no bytes.');
}
