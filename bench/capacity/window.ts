import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Installation } from './installation.js';
import type { Door, Kind } from './kinds.js';
import type { Counted } from './model.js';
import { between } from './reading.js';

/** What is sent: shares of all runs, by door and kind, as `log read`. */
export type Mix = Readonly<Partial<Record<`${Door} ${Kind}`, number>>>;

/** A time of the measurement. */
export interface Window extends Counted {
  /** From a request to its end, milliseconds, sorted. */
  readonly latencies: readonly number[];
  /** Of the machine at the end, over a minute. */
  readonly load: number;
}

/** How long audit and lists may take behind the last end, milliseconds. */
const settleMs = 2_500;
let count = 0;

/** Nothing is sent for so many seconds. */
export function idle({ read }: Installation, seconds: number): Promise<Window> {
  return counting(read, async () => {
    await delay(seconds * 1_000);
    return [];
  });
}

/**
 * So many runs a second, by chance as those of many users are, whether or not the former have ended; waits for all of
 * them, and counts what they took.
 */
export function open({ doors, read }: Installation, mix: Mix, perSecond: number, seconds: number): Promise<Window> {
  const send = senderTo(doors, mix);
  return counting(read, async (ended) => {
    const began = performance.now();
    const flying: Promise<void>[] = [];
    for (let due = began; ;) {
      due += (-Math.log(1 - Math.random()) / perSecond) * 1_000;
      const wait = Math.min(due, began + seconds * 1_000) - performance.now();
      if (wait > 1) await delay(wait);
      if (due > began + seconds * 1_000) break;
      flying.push(timed(send, ended));
    }
    return flying;
  });
}

/**
 * So many runs, so many of them at a time: a new one begins when one has ended, unless the time is over, which is in
 * seconds.
 */
export function closed(
  { doors, read }: Installation,
  mix: Mix,
  {
    runs,
    inFlight,
    seconds = Infinity,
  }: { readonly runs: number; readonly inFlight: number; readonly seconds?: number },
): Promise<Window> {
  const send = senderTo(doors, mix);
  return counting(read, async (ended) => {
    const all: Promise<void>[] = [];
    const until = performance.now() + seconds * 1_000;
    const next = async (): Promise<void> => {
      while (all.length < runs && performance.now() < until) {
        const one = timed(send, ended);
        all.push(one);
        await one;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, next));
    return all;
  });
}

async function timed(send: () => Promise<void>, ended: (ms: number) => void): Promise<void> {
  const since = performance.now();
  await send();
  ended(performance.now() - since);
}

async function counting(
  read: Installation['read'],
  work: (ended: (ms: number) => void) => Promise<readonly Promise<void>[]>,
): Promise<Window> {
  const latencies: number[] = [];
  const before = await read();
  const began = performance.now();
  const flying = await work((ms) => latencies.push(ms));
  const sending = (performance.now() - began) / 1_000;
  await Promise.all(flying);
  await delay(settleMs);
  const counted = between(before, await read());
  return { runs: flying.length, sending, counted, latencies: latencies.sort((a, b) => a - b), load: loadavg()[0] ?? 0 };
}

function senderTo(doors: Installation['doors'], mix: Mix): () => Promise<void> {
  const draw = drawFrom(mix);
  const name = `w${Date.now().toString(36)}${count++}`;
  let sent = 0;
  return () => {
    const [door, kind] = draw();
    const send = doors[door];
    if (send === undefined) throw new Error(`There is no door ${door} here.`);
    return send(kind, `${name}-${sent++}`);
  };
}

/** Each in its turn, so that of some runs already the shares are as they should be. */
function drawFrom(mix: Mix): () => readonly [Door, Kind] {
  const all = (Object.entries(mix) as [`${Door} ${Kind}`, number][]).map(([name, share]) => ({
    name,
    share,
    drawn: 0,
  }));
  const [first] = all;
  if (first === undefined) throw new Error('A mix needs a name of runs.');
  return () => {
    const next = all.reduce((least, one) =>
      (one.drawn + 1) / one.share < (least.drawn + 1) / least.share ? one : least,
    );
    next.drawn++;
    return next.name.split(' ') as [Door, Kind];
  };
}
