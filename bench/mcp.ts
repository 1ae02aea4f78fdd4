import { loadavg } from 'node:os';
import type { Figure } from './measure.js';
import { median, quantile, report } from './measure.js';
import { startRelay, startServices, startUpstream } from './mcp/children.js';
import { connected, timeOf } from './mcp/client.js';
import { configuration } from './mcp/configuration.js';
import { logBytes } from './mcp/log-bytes.js';
import { startPeers } from './mcp/peers.js';
import { added, addedAlone, openPeer, openWay, rounds, share } from './mcp/ways.js';
import type { Way } from './mcp/ways.js';

const manyTools = 1_000;
const listRounds = 40;

const listed = `
tool:
${Array.from({ length: manyTools }, (_, n) => `  t${n}: { type: get_current_time, description: Tells the time in place ${n}, group: [work] }`).join('\n')}
policy: { allowed_tools: [${Array.from({ length: manyTools }, (_, n) => `t${n}`).join(', ')}] }
`;

/** Another relay beside Sluice. */
interface Named {
  readonly name: string;
  readonly way: Way;
}

interface Closing {
  close(): Promise<void>;
}

/**
 * An MCP client’s calls of an upstream server: direct, through a bare relay of the SDK, and through Sluice on SQLite
 * with and without the audit, each a process of its own, in turn.
 */
export async function benchMcp(): Promise<void> {
  const open: Closing[] = [];
  const kept = async <Part extends Closing>(part: Promise<Part>): Promise<Part> => {
    const opened = await part;
    open.push(opened);
    return opened;
  };
  try {
    const upstream = await kept(startUpstream(manyTools));
    await calls(upstream, kept);
    await logBytes(upstream.url);
    await lists(`${upstream.url}/many`, kept);
  } finally {
    for (const part of open.reverse()) await part.close();
  }
}

type Kept = <Part extends Closing>(part: Promise<Part>) => Promise<Part>;

async function calls(upstream: Awaited<ReturnType<typeof startUpstream>>, kept: Kept): Promise<void> {
  const url = `${upstream.url}/mcp`;
  const [bare, without, audited] = [
    await kept(startRelay(url)),
    await kept(startServices(configuration(upstream.url), { audit: false })),
    await kept(startServices(configuration(upstream.url), { audit: true })),
  ];
  const acts = { hasSessions: false };
  const direct = await kept(openWay(upstream, 'ping', { url }));
  const relay = await kept(openWay(bare, 'ping'));
  const reads = await kept(openWay(without, 'upstream___ping'));
  const effects = await kept(openWay(without, 'upstream___act', acts));
  const readsAudited = await kept(openWay(audited, 'upstream___ping'));
  const effectsAudited = await kept(openWay(audited, 'upstream___act', acts));
  const peers = await openPeers(url, kept);
  const others = peers.map(({ way }) => way);
  const ways = [direct, relay, reads, effects, readsAudited, effectsAudited, ...others];
  const done = await rounds(ways, { most: 12, seconds: 100 });
  const load = loadavg()[0]?.toFixed(1) ?? 'unknown';
  report(`MCP: a call one after another, on SQLite, ${done} rounds in turn, load ${load}`, [
    { name: 'a direct call, median', value: median(direct.alone), unit: 'ms' },
    ...later('added by the relay', relay, direct),
    ...later('added by Sluice to the relay, read-only', reads, relay, 2),
    ...later('the same with audit records', readsAudited, relay),
    ...later('added by Sluice to the relay, with an effect', effects, relay, 4),
    ...later('the same with audit records', effectsAudited, relay),
    ...peers.flatMap(({ name, way }) => later(`added by ${name} to the relay`, way, relay)),
    { name: 'processor time of a call in the relay', value: median(relay.work), unit: 'ms' },
    ...onRelay('more in Sluice, read-only', reads, relay, 'work', 2.5),
    ...onRelay('the same with audit records', readsAudited, relay, 'work'),
    ...onRelay('more in Sluice, with an effect', effects, relay, 'work', 2.5),
    ...onRelay('the same with audit records', effectsAudited, relay, 'work'),
    ...peers.flatMap(({ name, way }) => onRelay(`more in ${name}`, way, relay, 'work')),
  ]);
  report(`MCP: calls a second, 16 in flight, ${done} rounds in turn`, [
    { name: 'direct, in one session', value: median(direct.inOneSession), unit: '1/s' },
    { name: 'the relay, in one session', value: median(relay.inOneSession), unit: '1/s' },
    { name: 'the relay / direct', value: share(relay, direct, 'inOneSession'), unit: '' },
    { name: 'Sluice, in one session', value: median(reads.inOneSession), unit: '1/s' },
    ...perRelay('Sluice / the relay, in one session', reads, relay, 'inOneSession', 0.4),
    ...perRelay('the same with audit records', readsAudited, relay, 'inOneSession'),
    ...peers.flatMap(({ name, way }) => perRelay(`${name} / the relay`, way, relay, 'inOneSession')),
    { name: 'Sluice, in sixteen sessions', value: median(reads.inSixteen), unit: '1/s' },
    ...perRelay('Sluice / the relay, in sixteen sessions', reads, relay, 'inSixteen', 0.4),
    ...perRelay('the same with audit records', readsAudited, relay, 'inSixteen'),
    ...peers.flatMap(({ name, way }) => perRelay(`${name} / the relay`, way, relay, 'inSixteen')),
    ...perRelay('Sluice / the relay, protocol without sessions (2026-07-28)', reads, relay, 'rates', 0.4),
    ...perRelay('the same with audit records', readsAudited, relay, 'rates'),
    ...perRelay('the same with an effect, without audit records', effects, relay, 'rates'),
    { name: 'processor time of a call in the relay', value: median(relay.workTogether), unit: 'ms' },
    ...onRelay('more in Sluice, read-only', reads, relay, 'workTogether', 2.5),
    ...onRelay('the same with audit records', readsAudited, relay, 'workTogether'),
    ...onRelay('more in Sluice, with an effect', effects, relay, 'workTogether', 2.5),
  ]);
}

async function openPeers(url: string, kept: Kept): Promise<readonly Named[]> {
  const peers: Named[] = [];
  for (const peer of await startPeers(url)) {
    await kept(Promise.resolve(peer.child));
    try {
      peers.push({ name: peer.name, way: await kept(openPeer(peer, 'ping')) });
    } catch (error) {
      console.log(`${peer.name} is not measured: it does not serve the tool. ${(error as Error).message}`);
    }
  }
  return peers;
}

type Compared = Parameters<typeof added>[2];

/** What is added at the median; and in the quickest tenth of the calls, where the machine had nothing else to do. */
function later(name: string, way: Way, to: Way, atMost?: number): readonly Figure[] {
  const value = addedAlone(way, to, 0.5);
  return [
    { name, value, unit: 'ms', ...(atMost === undefined ? {} : { goal: { atMost } }) },
    { name: '    in the quickest tenth of the calls', value: addedAlone(way, to, 0.1), unit: 'ms' },
  ];
}

function onRelay(name: string, way: Way, relay: Way, figure: Compared, atMost?: number): readonly Figure[] {
  const value = added(way, relay, figure);
  return [{ name, value, unit: 'ms', ...(atMost === undefined ? {} : { goal: { atMost } }) }];
}

function perRelay(name: string, way: Way, relay: Way, figure: Compared, atLeast?: number): readonly Figure[] {
  const value = share(way, relay, figure);
  return [{ name, value, unit: '', ...(atLeast === undefined ? {} : { goal: { atLeast } }) }];
}

async function lists(url: string, kept: Kept): Promise<void> {
  const many = await kept(startServices(listed, { audit: false }));
  const [direct, client] = [await kept(connected(url)), await kept(connected(many.url))];
  const times = { direct: [] as number[], sluice: [] as number[], bytes: [] as number[] };
  const post = await rawList(many.url);
  for (let n = 0; n < listRounds; n++) {
    times.direct.push(await timeOf(() => direct.listTools()));
    times.sluice.push(await timeOf(() => client.listTools()));
    times.bytes.push(await timeOf(post));
  }
  report(`MCP: tools/list of ${manyTools} tools`, [
    { name: 'its bytes, median', value: median(times.bytes), unit: 'ms', goal: { atMost: 5 } },
    { name: 'the same, p95', value: quantile(times.bytes, 0.95), unit: 'ms' },
    { name: 'the same by the SDK’s client, which parses and checks it', value: median(times.sluice), unit: 'ms' },
    { name: 'the same, direct, of a server that made its list once', value: median(times.direct), unit: 'ms' },
    { name: 'through Sluice / direct', value: median(times.sluice) / median(times.direct), unit: '' },
  ]);
}

/** The request of a list as bytes, sent and read to its end, without a client that does anything with it. */
async function rawList(url: string): Promise<() => Promise<void>> {
  const headers = {
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
  const send = async (): Promise<string> => (await fetch(url, { method: 'POST', headers, body })).text();
  const answer = await send();
  if (!answer.includes(`"t${manyTools - 1}"`)) throw new Error(`The list was refused: ${answer.slice(0, 300)}`);
  return async () => void (await send());
}
