import { parseArgs } from 'node:util';
import { durationMs } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { openBus, openLogFile, ownToken, verifierIfAny } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { Approver } from '../load/approver.js';
import type { Credentials } from '../load/approver.js';
import { askingFrom } from '../load/asking.js';
import { Board } from '../load/board.js';
import { Issuer } from '../load/issuer.js';
import { readMix } from '../load/mix.js';
import type { Mix } from '../load/mix.js';
import { runLoad } from '../load/run-load.js';
import { summary, summaryJson } from '../load/summary.js';
import { Tally } from '../load/tally.js';
import { aboutVersion, appliedConfiguration, loadFile } from '../system/applied.js';
import { startEmbedded } from '../system/embedded.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice load [--rate n] [--for 30s] [--sessions n] [--seed n] [--mix FILE] [--json]
  Publishes a mix of requests at a steady rate (5 a second, for 30 s, over 50 sessions) and shows the results, live in a terminal;
  --json prints the summary alone. The same --seed gives the same requests. Exit code 0 if every request ended as its kind should, 130 if
  it was stopped. docs/load.md tells what the mix is and how to write one of your own.
  If nothing is running on the data folder, the services run in this process: under SLUICE_CONFIG, else what was applied there,
  else examples/load/sluice.yaml.`;

const ownMix = 'examples/load/mix.yaml';
/** How long the end waits for what is in flight, in milliseconds. */
const patienceMs = 60_000;
const drawEveryMs = 250;

interface Wanted {
  readonly perSecond: number;
  readonly durationMs: number;
  readonly sessions: number;
  readonly seed: number;
  readonly mix: string | undefined;
  readonly json: boolean;
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const wanted = readArguments(args);
  const { environment, log } = surroundings;
  const mix = readMix(wanted.mix ?? surroundings.inProject(ownMix));
  if (environment.bus === 'kafka') {
    const { bus } = await openBus(environment, log);
    return closing(bus, () => load(bus, mix, wanted, surroundings));
  }
  const bus = await openLogFile(environment, log);
  if ((await bus.holderOf('filter')) !== null) return closing(bus, () => load(bus, mix, wanted, surroundings));
  const applied = await closing(bus, () => appliedConfiguration(bus, verifierIfAny(environment)));

  if (applied !== null && !wanted.json && environment.configFile === null)
    surroundings.write(`In force is ${aboutVersion(applied)}.\n`);

  // The filter reads the users' keys when the first request comes: they are made before.
  const credentials = await credentialsFor(mix, environment);
  const configFile = environment.configFile ?? (applied === null ? surroundings.inProject(loadFile) : null);
  const system = await startEmbedded({ environment: { ...environment, port: 0 }, configFile, fileOnly: true });
  return closing(system, () => load(system.runtime.bus, mix, wanted, surroundings, credentials));
}

async function closing<T>(part: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await part.close();
  }
}

async function load(
  bus: Bus,
  mix: Mix,
  { perSecond, durationMs, sessions, seed, json }: Wanted,
  { environment, write, print, paint, stopped, terminal }: CommandContext,
  known?: Credentials,
): Promise<number> {
  const credentials = known ?? (await credentialsFor(mix, environment));
  const tally = new Tally();
  const began = performance.now();
  const board = new Board(tally, paint, write, began);
  const stop = new AbortController();
  void stopped.then(() => stop.abort());
  const name = `load-${Date.now().toString(36)}`;
  const title = `${perSecond}/s for ${durationMs / 1_000} s, seed ${seed}`;
  const live = terminal && !json;
  let drawnAt = -Infinity;
  const onTick = (): void => {
    const now = performance.now();
    const closed = board.tick(now);
    if (live && now - drawnAt >= drawEveryMs) board.draw(title, (drawnAt = now));
    if (!live && !json && closed) board.line(now - began, now);
  };

  if (!live && !json) write(`${title}: the ids of its runs begin with ${name}\n`);
  const approver = mix.approver === undefined ? null : new Approver(bus, mix.approver, credentials, tally, seed);
  const parts = { bus, name, credentials, approver, tally, perSecond, durationMs, patienceMs, onTick };
  const next = askingFrom(mix, name, sessions, seed);
  await runLoad({ ...parts, next, onEnd: (ms) => board.ended(ms) }, stop.signal);
  const seconds = (performance.now() - began) / 1_000;
  const sending = Math.min(seconds, durationMs / 1_000);
  if (live) board.draw(title, performance.now());
  if (json) print(`${JSON.stringify(summaryJson(tally, seconds))}\n`);
  else write(`\n${summary(tally, seconds, sending, paint)}`);
  if (stop.signal.aborted) return 130;
  return tally.inFlight === 0 && tally.unexpected === 0 ? 0 : 1;
}

/** What the mix's users show; without an issuer of its own everybody shows SLUICE_TOKEN, or nothing. */
async function credentialsFor(mix: Mix, environment: Environment): Promise<Credentials> {
  const issuer = mix.issuer === undefined ? null : await Issuer.open(mix.issuer, mix.users);
  return async (user) => {
    const token = issuer === null ? ownToken(environment) : user === null ? undefined : await issuer.token(user);
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  };
}

function readArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string', default: '5' },
      for: { type: 'string', default: '30s' },
      sessions: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      mix: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const perSecond = Number(values.rate);
  if (!(perSecond > 0 && perSecond <= 100_000))
    throw new Error(`--rate is "${values.rate}"; it must be a number above 0, of requests a second.`);
  return {
    perSecond,
    durationMs: milliseconds(values.for),
    sessions: whole('--sessions', values.sessions, 1),
    seed: whole('--seed', values.seed, 0),
    mix: values.mix,
    json: values.json,
  };
}

function milliseconds(text: string): number {
  const ms = durationMs(/\d$/.test(text) ? `${text}s` : text);
  if (!(ms > 0)) throw new Error(`--for is "${text}"; it must be a time such as 30s, 5m or 2h.`);
  return ms;
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > 1_000_000_000)
    throw new Error(`${option} is "${text}"; it must be a whole number from ${least}.`);
  return value;
}
