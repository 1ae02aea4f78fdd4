import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { make, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { openSqliteBus } from '@sluice/bus';
import type { Incoming, Outgoing, SqliteBus } from '@sluice/bus';
import { createLog, dataFiles, makeFolder, openRuntime } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Configurations } from '@sluice/run';
import { McpServers } from '../../apps/executor/src/mcp-servers.js';
import { ConfigurationSource } from '../../apps/sluice/src/system/configuration-source.js';
import { embeddedIn } from '../loop.js';
import { listsBeside, listsHere } from './lists.js';
import type { Lists } from './lists.js';
import { configuration, requestOf, waitingRequestOf, waits } from './runs.js';
import { Services } from './services.js';

/** Runs that begin at the same time. */
const side = 1_000;
/** Between a record and what follows from it, milliseconds. */
const hopMs = 20;
/** How long ago runs began that wait, milliseconds. */
const justNowMs = 60_000;

export interface Seeding {
  readonly folder: string;
  readonly runs: number;
  /** Over how many days they are spread, until now. */
  readonly days: number;
  /** Runs behind them that wait for an approval. */
  readonly waiting?: number;
  /** Whether the lists are written by a thread of its own, which only the built program has. */
  readonly hasThread?: boolean;
  readonly said?: (done: number) => void;
}

export interface Seeded {
  readonly records: number;
  readonly seconds: number;
}

/**
 * Makes the data folder of an installation that has had so many runs: the services decide, sign and claim as ever, and
 * the audit, the lists and the ledger have what real runs leave there. Only the consumers are left out, and the clock
 * is one that the history takes along. Text that was streamed is not there: the log keeps it for an hour.
 */
export async function seedHistory({
  folder,
  runs,
  days,
  waiting = 0,
  hasThread = false,
  said = () => undefined,
}: Seeding): Promise<Seeded> {
  const environment = embeddedIn(folder);
  if (existsSync(dataFiles(environment).log))
    throw new Error(
      `There is a log in ${folder}. Name a folder that is new: what is seeded is not mixed with other runs.`,
    );
  makeFolder(folder);
  const begun = performance.now();
  const span = days * 24 * 3_600_000;
  const clock = { time: Date.now() - span, now: () => clock.time };
  const opened = await openRuntime(environment, createLog('silent'), undefined, clock);
  const { log, instance } = { log: dataFiles(environment).log, instance: environment.instance };
  const bus = await openSqliteBus({ file: log, clock, instance, processId: process.pid, isAlive: () => false });
  const history = new History({ ...opened.runtime, bus }, bus);
  try {
    await history.open(folder, hasThread);
    for (let n = 0; n < runs; n += wave(runs)) {
      clock.time = Math.max(clock.time, Date.now() - span + Math.floor((span * n) / runs));
      const requests = Array.from({ length: Math.min(wave(runs), runs - n) }, (_, at) => requestOf(n + at, runs));
      await history.run(requests, clock);
      await opened.runtime.ledger.sweep(clock.now());
      said(n + requests.length);
    }
    clock.time = Math.max(clock.time, Date.now() - justNowMs);
    for (let n = 0; n < waiting; n += side) {
      const requests = Array.from({ length: Math.min(side, waiting - n) }, (_, at) => waitingRequestOf(n + at));
      await history.run(requests, clock);
    }
    await history.close();
  } finally {
    await bus.close();
    await opened.close();
  }
  commitPositions(log, history);
  return { records: history.records, seconds: (performance.now() - begun) / 1_000 };
}

/** So many that no two of them are of one session. */
function wave(runs: number): number {
  return Math.min(side, Math.ceil(runs / 4));
}

class History {
  records = 0;
  private readonly ends = new Map<Topic, number>();
  private readonly runtime: Runtime;
  private readonly servers: McpServers;
  private _services: Services | undefined;
  private lists: Lists | undefined;

  constructor(
    given: Runtime,
    private readonly bus: SqliteBus,
  ) {
    const configurations = new Configurations(bus, given.metrics, given.log, given.signatures);
    this.runtime = { ...given, configurations };
    this.servers = new McpServers(given.environment, given.log, () => undefined, given.traces);
  }

  get services(): Services {
    if (this._services === undefined) throw new Error('The history is not open.');
    return this._services;
  }

  async open(folder: string, hasThread: boolean): Promise<void> {
    const file = join(folder, 'seed.yaml');
    await writeFile(file, configuration);
    const source = new ConfigurationSource(file, this.servers, this.runtime);
    await source.start();
    await source.close();
    await rm(file);
    await this.runtime.configurations.start();
    this._services = new Services(this.runtime, this.servers);
    await this.services.start();
    const { projection } = dataFiles(this.runtime.environment);
    this.lists = hasThread ? listsBeside(projection) : await listsHere(projection);
    for await (const message of this.bus.read([topics.config], { from: 'start' })) {
      this.ends.set(message.topic, message.offset + 1);
      await this.audited([message]);
    }
  }

  /** Lets these runs go on as far as they do. */
  async run(requests: readonly Outgoing[], clock: { time: number }): Promise<void> {
    for (let next = requests; next.length > 0; clock.time += hopMs) next = await this.pass(next);
  }

  /** Puts the records on the log and has them handled; returns what follows of them. */
  private async pass(outgoing: readonly Outgoing[]): Promise<readonly Outgoing[]> {
    const messages = await this.append(outgoing);
    const [outputs] = await Promise.all([this.services.handle(messages), this.audited(messages)]);
    return [...outputs, ...messages.flatMap((message) => this.decisionOn(message))];
  }

  async close(): Promise<void> {
    await this.services.close();
    await this.runtime.configurations.close();
    await this.servers.close();
    await this.lists?.close();
  }

  private async audited(messages: readonly Incoming[]): Promise<void> {
    const entries = await this.append(await this.services.entriesOf(messages));
    await this.lists?.apply([...messages, ...entries]);
  }

  /** This is the only writer, so their offsets follow from what was written. */
  private async append(outgoing: readonly Outgoing[]): Promise<readonly Incoming[]> {
    const timestamp = this.runtime.clock.now();
    const messages = outgoing.map((message) => {
      const offset = this.ends.get(message.topic) ?? 0;
      this.ends.set(message.topic, offset + 1);
      return { headers: {}, ...message, partition: 0, offset, timestamp } as Incoming;
    });
    await this.bus.publish(outgoing);
    this.records += messages.length;
    return messages;
  }

  /** An approval of each call that waits, but for those of runs that are to wait. */
  private decisionOn(message: Incoming): readonly Outgoing[] {
    if (message.topic !== topics.approvals || message.record.requested === null) return [];
    if (message.record.requested.requestId.startsWith(waits)) return [];
    const { approvalId, requestId, sessionId, argumentsHash } = message.record.requested;
    const position = { requestedPartition: message.partition, requestedOffset: message.offset };
    const words = { decision: 'approve', decidedBy: 'user:ann', reason: 'Fine.' };
    const ids = { approvalId, requestId, sessionId, argumentsHash };
    const decided = make.approvalDecided({ ...ids, ...words, ...position, decidedAt: this.runtime.clock.now() });
    const record = make.approval({ decided });
    return [{ topic: topics.approvals, key: sessionId, record }];
  }
}

/** All groups have finished everything: a start finds nothing to do. */
function commitPositions(log: string, { services }: History): void {
  const database = new DatabaseSync(log);
  const put = database.prepare(
    'INSERT OR REPLACE INTO positions (consumer_group, topic, prefix, carried) SELECT ?, id, next_offset, ? FROM topics WHERE name = ?',
  );
  for (const { group, topic, carried } of services.standings()) put.run(group, carried, topic);
  database.close();
}
