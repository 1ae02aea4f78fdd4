import { setTimeout as sleep } from 'node:timers/promises';
import { clockSkewMs, defaultParkedMs, Fault, runName } from '@sluice/core';
import { positionOf, topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import { skipUndecodable, recordAt } from '@sluice/bus';
import type { Incoming, Outgoing, ReadOptions } from '@sluice/bus';
import {
  deadlineKept,
  GenuineEnds,
  hasEnded,
  isTurnClaimed,
  quarantinedAt,
  returnedTurn,
  runOfRecord,
  signReturned,
  verifyGrant,
  verifyRecord,
} from '@sluice/run';
import { authenticatorOf } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { CallEnds } from './call-ends.js';
import { OpenCalls } from './open-calls.js';
import type { OpenCall } from './open-calls.js';
import { OpenRuns } from './open-runs.js';
import type { OpenTurn } from './open-runs.js';
import { ReadPosition } from './read-position.js';

/** When overdue runs are ended, milliseconds. */
interface OverduePace {
  /** How often it looks. */
  readonly everyMs: number;
  /** What a service that lives gets to end its run itself, behind the deadline. */
  readonly graceMs: number;
  /** What an executor that has the turn gets: what it did becomes a step, if it lives or is back by then. */
  readonly executorGraceMs: number;
  /** Before it looks again whether a turn that was taken back has ended its run. */
  readonly againMs: number;
}

const defaultPace: OverduePace = { everyMs: 1_000, graceMs: 2_000, executorGraceMs: 60_000, againMs: 15_000 };

/**
 * How far back it reads at the start, beside what a run may wait for people, milliseconds: the longest run, and an
 * hour.
 */
const lookBackMs = 25 * 3_600_000;
/** A call that has not ended by then is asked about whose it is, milliseconds: most of them have. */
const unknownMs = 1_000;
/** Runs that are watched at a time, and turns that are taken back at a time. */
const mostOpen = 200_000;
const atATime = 20;
const read = [topics.toolsets, topics.calls, topics.responses] as const;
const retryMs = 5_000;

/**
 * Ends runs whose time is up while no service has hold of them: the agent or the executor may be away. It follows
 * Toolsets, requests that make one call themselves, and AgentResponses without a group. An overdue turn goes back to
 * the filter on agent.steps, as a re-driven one does, and there ends its run like any record: in a transaction, and
 * once. So any number of filters may look, and one that is killed here leaves nothing half done.
 */
export class OverdueSweep {
  private readonly open = new OpenRuns(mostOpen);
  private readonly calls = new OpenCalls(mostOpen);
  private readonly callEnds: CallEnds;
  /** Without forged ends: for such a one the filter would forget a run that has not ended. */
  private readonly log: GenuineEnds;
  private readonly takenBack = new Map<string, number>();
  private readonly stopping = new AbortController();
  private readonly following: Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private isFull = false;
  /** False until all that was on the log is read: an end may stand behind what it ended. */
  private hasCaughtUp = false;
  private isFollowing = false;
  private readonly position: ReadPosition;
  /** When the log took what was read last. */
  private readTo = -Infinity;

  constructor(
    private readonly runtime: Runtime,
    private readonly pace = defaultPace,
  ) {
    this.log = new GenuineEnds(runtime.bus, runtime.signatures, runtime.log);
    this.position = new ReadPosition(runtime.documents);
    this.callEnds = new CallEnds(runtime, authenticatorOf(runtime));
    const parkedMs = runtime.configurations.inForceOrNull()?.configuration.limits.parkedMs ?? defaultParkedMs;
    this.following = this.follow(runtime.clock.now() - lookBackMs - parkedMs);
    this.next();
  }

  /** How many runs each tenant has open; null while the log is not read to its end. */
  openByTenant(): ReadonlyMap<string, number> | null {
    return this.isFollowing ? this.open.byTenant(this.calls.tenants()) : null;
  }

  async close(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await Promise.all([this.following, this.looking]);
    await this.keepPosition();
  }

  private next(): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.looking = this.look().then(() => this.next());
    }, this.pace.everyMs);
  }

  /** Reads on from where it was when the log cannot be read for a while; what is read twice does no harm. */
  private async follow(since: number): Promise<void> {
    const { signal } = this.stopping;
    let time: number | undefined;
    while (!signal.aborted) {
      try {
        const begunAt = this.runtime.clock.now();
        time ??= await this.position.find(since);
        if (!this.hasCaughtUp) await this.read({ from: { time }, signal });
        if (signal.aborted) return;
        this.hasCaughtUp = true;
        time = begunAt - clockSkewMs;
        this.isFollowing = true;
        await this.read({ from: { time }, follow: true, signal });
      } catch (error) {
        this.isFollowing = false;
        if (signal.aborted) return;
        this.runtime.log.warn(
          { error: (error as Error).message },
          'runs cannot be watched for their deadlines; trying again',
        );
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private async read(options: ReadOptions): Promise<void> {
    for await (const message of this.log.read(read, { ...options, ...skipUndecodable })) {
      if (message.topic === topics.responses) {
        this.open.end(message);
        this.calls.end(message);
      } else if (!(message.topic === topics.calls ? this.calls.add(message) : this.open.add(message))) this.sayFull();
      this.readTo = message.timestamp;
    }
  }

  /** Where the next start begins to read; not while some runs are not watched. */
  private async keepPosition(): Promise<void> {
    if (!this.hasCaughtUp || this.isFull) return;
    const time = Math.min(this.readTo, this.open.oldest(), this.calls.oldest());
    if (!Number.isFinite(time)) return;
    try {
      await this.position.keep(time);
    } catch (error) {
      this.runtime.log.debug({ error: (error as Error).message }, 'where to read from at the next start was not kept');
    }
  }

  private async look(): Promise<void> {
    if (!this.hasCaughtUp) return;
    await this.keepPosition();
    const now = this.runtime.clock.now();
    for (const [name, at] of this.takenBack) if (at + this.pace.againMs <= now) this.takenBack.delete(name);
    const overdue = this.open
      .overdue(now - this.pace.graceMs)
      .filter(([turn]) => !this.takenBack.has(turn?.name ?? ''));
    try {
      await this.publishing(overdue, (turns) => this.takeBack(turns));
      const unknown = this.calls.unknown(now - unknownMs);
      const calls = this.calls.overdue(now - this.pace.graceMs);
      await this.publishing([...unknown, ...calls], (call) => this.endCall(call));
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.runtime.log.warn({ error: (error as Error).message }, 'overdue runs cannot be ended now; trying again');
    }
  }

  private async publishing<Of>(all: readonly Of[], made: (one: Of) => Promise<readonly Outgoing[]>): Promise<void> {
    for (let at = 0; at < all.length && !this.stopping.signal.aborted; at += atATime) {
      const messages = (await Promise.all(all.slice(at, at + atATime).map(made))).flat();
      if (messages.length > 0) await this.runtime.bus.publish(messages);
    }
  }

  /** The end of a call whose time is up; nothing while it is an executor’s, or another filter sees to it. */
  private async endCall(call: OpenCall): Promise<readonly Outgoing[]> {
    const { clock, log } = this.runtime;
    const place = positionOf({ ...call, topic: topics.calls });
    if (this.takenBack.has(place)) return [];
    const found = await this.callEnds.find(call);
    if (found === 'unknown') {
      this.takenBack.set(place, clock.now());
      return [];
    }
    if (found === null) {
      this.calls.drop(call);
      return [];
    }
    const { turn, deadline, isTaken } = found;
    const { requestId, tenant } = runOfRecord(turn);
    this.calls.know(call, { tenant, deadline });
    const grace = isTaken ? Math.max(this.pace.graceMs, this.pace.executorGraceMs) : this.pace.graceMs;
    if (clock.now() < deadline + grace) return [];
    this.takenBack.set(place, clock.now());
    if (!(await this.seesTo({ name: runName(requestId, tenant), attempt: turn.run.redrive }))) return [];
    log.info({ request_id: requestId, deadline: new Date(deadline).toISOString() }, 'an overdue run is ended');
    return this.callEnds.end(found, call.key);
  }

  /**
   * The run’s last turn that the filter did grant, as it goes back; nothing if the run has ended, or another filter
   * sees to it.
   */
  private async takeBack(turns: readonly OpenTurn[]): Promise<readonly Outgoing[]> {
    const { bus, clock, log } = this.runtime;
    for (const turn of turns) {
      const { name, requestId, key, deadline } = turn;
      if (await hasEnded(turn, this.runtime)) {
        this.open.drop(turn);
        continue;
      }
      const found = await recordAt(bus, topics.toolsets, turn, skipUndecodable);
      if (found === undefined || !(await this.isGranted(found))) {
        this.open.drop(turn);
        continue;
      }
      const putOffTo = await deadlineKept(turn, this.runtime);
      if (putOffTo !== null && putOffTo > deadline) {
        this.open.putOff(turn, putOffTo);
        return [];
      }
      if (clock.now() < deadline + this.pace.executorGraceMs && (await this.isWithExecutor(found.record))) return [];
      this.takenBack.set(name, clock.now());
      if (!(await this.seesTo(turn))) return [];
      log.info({ request_id: requestId, deadline: new Date(deadline).toISOString() }, 'an overdue run is ended');
      const record = await signReturned(returnedTurn(found.record), this.runtime);
      return [{ topic: topics.steps, key, record }];
    }
    return [];
  }

  /** Whether an executor has taken the turn and its step is still to come; one that was quarantined has come. */
  private async isWithExecutor(record: Toolset): Promise<boolean> {
    const step = { topic: topics.steps, iteration: record.iteration, ...runOfRecord(record) };
    return (
      (await isTurnClaimed(topics.toolCalls, record, this.runtime)) &&
      (await quarantinedAt(step, this.runtime)) === null
    );
  }

  /** True for the one filter that sees to the run for now. */
  private async seesTo({ name, attempt }: Pick<OpenTurn, 'name' | 'attempt'>): Promise<boolean> {
    const { ledger, clock, environment } = this.runtime;
    const [key, owner] = [`overdue/${name}/${attempt ?? ''}`, environment.instance];
    return (await ledger.claim({ key, owner, now: clock.now(), ttlMs: this.pace.againMs })).owner === owner;
  }

  private async isGranted(message: Incoming<'agent.toolsets'>): Promise<boolean> {
    try {
      await verifyGrant(message.record, this.runtime);
      await verifyRecord(message, this.runtime);
      return true;
    } catch (error) {
      if (error instanceof Fault && !error.retryable) return false;
      throw error;
    }
  }

  private sayFull(): void {
    if (this.isFull) return;
    this.isFull = true;
    this.runtime.log.error(
      { runs: mostOpen },
      'more runs are open than are watched for their deadlines; the others end when a service takes them up',
    );
  }
}
