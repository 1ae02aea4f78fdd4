import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import type { Child } from '../discovery/child.js';
import { median, quantile } from '../measure.js';
import { connected, connectedInSession, oneByOne, together } from './client.js';
import type { Peer } from './peers.js';

const inFlight = 16;

/** A way to the upstream server’s tool, and what was measured of it. */
export interface Way {
  readonly tool: string;
  readonly child: Child;
  /** Of each call, one after another, in milliseconds. */
  readonly alone: number[];
  /** In each round: processor time of a call, one after another and with some in flight, in milliseconds. */
  readonly work: number[];
  readonly workTogether: number[];
  /** In each round: calls a second with sixteen in flight: without a session, in one, in sixteen. */
  readonly rates: number[];
  readonly inOneSession: number[];
  readonly inSixteen: number[];
  /** How many calls a round has, one after another and with some in flight. */
  readonly calls: readonly [alone: number, together: number];
  /** In how many rounds it has its turn: the first ones. */
  readonly rounds: number;
  /** Of the protocol without sessions; of another relay, in a session. */
  readonly client: Client;
  readonly sessions: readonly Client[];
  /** Whether it is called by the protocol of 2026-07-28. */
  readonly isModern: boolean;
  close(): Promise<void>;
}

export async function openWay(child: Child, tool: string, { url = child.url, hasSessions = true } = {}): Promise<Way> {
  const client = await connected(url);
  const sessions: Client[] = [];
  for (let n = 0; hasSessions && n < inFlight; n++) sessions.push(await connectedInSession(url));
  return wayOf({ child, tool, client, sessions, calls: [10, 128], rounds: Infinity, isModern: true });
}

/** A way through another relay, which takes longer: it is called in sessions, and names the tool in its own way. */
export async function openPeer({ child, url, headers }: Peer, tool: string): Promise<Way> {
  const sessions: Client[] = [];
  for (let n = 0; n < inFlight; n++) sessions.push(await connectedInSession(url, headers));
  const client = await connectedInSession(url, headers);
  const { tools } = await client.listTools();
  const found = tools.find(({ name }) => name.endsWith(tool));
  if (found === undefined) throw new Error(`${url} does not offer ${tool}: ${JSON.stringify(tools)}`);
  return wayOf({ child, tool: found.name, client, sessions, calls: [5, 32], rounds: 4, isModern: false });
}

function wayOf(given: Pick<Way, 'child' | 'tool' | 'client' | 'sessions' | 'calls' | 'rounds' | 'isModern'>): Way {
  const figures = { alone: [], work: [], workTogether: [], rates: [], inOneSession: [], inSixteen: [] };
  const close = async (): Promise<void> => {
    for (const one of [given.client, ...given.sessions]) await one.close();
  };
  return { ...given, ...figures, close };
}

/**
 * Rounds in which each way has its turn, so that what the machine does besides falls on all alike. There are so many
 * as fit into the time, three at least. Returns how many there were.
 */
export async function rounds(ways: readonly Way[], { most, seconds }: { most: number; seconds: number }) {
  for (const way of ways) await warmUp(way);
  const begun = performance.now();
  let done = 0;
  while (done < most && (done < 3 || performance.now() - begun < seconds * 1_000)) {
    // Who goes first takes turns too.
    const those = ways.filter((way) => done < way.rounds);
    const order = done % 2 === 0 ? those : those.reverse();
    for (const way of order) await aloneIn(way);
    for (const way of order) await togetherIn(way);
    done++;
  }
  return done;
}

/** Until the code of each process is compiled as it will stay. */
async function warmUp({ client, sessions, tool, calls: [, calls], isModern }: Way): Promise<void> {
  await together([client], tool, { calls: isModern ? 4 * calls : calls, inFlight });
  await oneByOne(client, tool, 10);
  if (sessions.length > 0) await together(sessions, tool, { calls: inFlight, inFlight });
}

async function aloneIn(way: Way): Promise<void> {
  const { child, client, tool } = way;
  const [calls] = way.calls;
  const before = await child.processor();
  way.alone.push(...(await oneByOne(client, tool, calls)));
  // What a call leaves to be done behind its answer is its own, and not the next one's.
  await delay(100);
  way.work.push(((await child.processor()) - before) / calls);
}

async function togetherIn(way: Way): Promise<void> {
  const { child, client, sessions, tool } = way;
  const [, calls] = way.calls;
  if (way.isModern) {
    const before = await child.processor();
    way.rates.push(await together([client], tool, { calls, inFlight }));
    await delay(100);
    way.workTogether.push(((await child.processor()) - before) / calls);
  }
  if (sessions.length === 0) return;
  way.inOneSession.push(await together(sessions.slice(0, 1), tool, { calls, inFlight }));
  await delay(100);
  way.inSixteen.push(await together(sessions, tool, { calls, inFlight }));
  await delay(100);
}

type InRounds = 'work' | 'workTogether' | 'rates' | 'inOneSession' | 'inSixteen';

/** How much longer a call takes than another way’s, at a quantile of all that were made one after another. */
export const addedAlone = (way: Way, to: Way, at: number): number => quantile(way.alone, at) - quantile(to.alone, at);

/** The median of what a figure is more than another way’s in the same round. */
export const added = (way: Way, to: Way, figure: InRounds): number =>
  median(way[figure].map((value, at) => value - (to[figure][at] ?? NaN)));

/** The median of its share of another way’s in the same round. */
export const share = (way: Way, of: Way, figure: InRounds): number =>
  median(way[figure].map((value, at) => value / (of[figure][at] ?? NaN)));
