import { setTimeout as delay } from 'node:timers/promises';
import { clockSkewMs } from '@sluice/core';
import { GenuineEnds, requestIdOf, tenantOf } from '@sluice/run';
import type { RunsWithin } from '@sluice/run';
import { serversKey, storyTopics, topics } from '@sluice/contracts';
import type { AgentProgress } from '@sluice/contracts';
import type { Runtime } from '../runtime.js';
import { Busy } from './busy.js';
import { Followed } from './followed.js';

/** What is shown of a run while it goes on. */
const watchedTopics = [...storyTopics, topics.progress] as const;

/** Learns when a run begins and ends, without following it. */
interface Expected {
  /** It was taken: a Toolset of it is on the log, or its call, which waits there. */
  taken(): void;
  ended(): void;
}

type Expecting = Expected & { readonly requestId: string; readonly tenant: string };

/**
 * One reading of the log for all who follow runs through this process. It stands in no group, so each instance sees
 * every run, and it decodes the records of followed sessions alone.
 */
export class RunWatch {
  private readonly bySession = new Map<string, Set<Followed>>();
  private readonly expected = new Map<string, Set<Expecting>>();
  private readonly ofServers: ((record: AgentProgress) => void)[] = [];
  private readonly stopping = new AbortController();
  private reading: Promise<void> = Promise.resolve();
  private count = 0;

  /** `mostFollowed`: runs that are followed at a time. */
  constructor(
    private readonly runtime: Pick<Runtime, 'bus' | 'clock' | 'log' | 'metrics' | 'signatures'>,
    private readonly mostFollowed = 1_000,
  ) {}

  start(): void {
    this.runtime.metrics.followedRuns.inc(0);
    this.reading = this.read(this.runtime.clock.now() - clockSkewMs);
  }

  /**
   * What the tenant’s run brings from now on, until `end`; with `within` what the agents’ runs bring, too. Throws Busy
   * where too many runs are followed.
   */
  follow(
    { requestId, sessionId }: { readonly requestId: string; readonly sessionId: string },
    tenant: string,
    within?: RunsWithin,
  ): Followed {
    if (this.count >= this.mostFollowed)
      throw new Busy(
        `This process follows ${this.mostFollowed} runs already. Try again in a moment, or at another instance.`,
      );
    const sessions = new Set<string>();
    const forget = (): void => {
      for (const session of sessions) this.unlist(session, followed);
      this.counted(-1);
    };
    const followed = new Followed(requestId, tenant, this.runtime.clock.now(), forget, within);
    const list = (session: string): void => {
      if (followed.over.aborted) return;
      sessions.add(session);
      this.bySession.set(session, (this.bySession.get(session) ?? new Set()).add(followed));
    };
    list(sessionId);
    within?.onRun(list);
    this.counted(1);
    if (this.stopping.signal.aborted) followed.end('stopping');
    return followed;
  }

  /** Tells when the tenant’s run begins and ends, until the returned function is called. */
  expect(
    { requestId, sessionId }: { readonly requestId: string; readonly sessionId: string },
    tenant: string,
    { taken, ended }: Expected,
  ): () => void {
    const session = this.expected.get(sessionId) ?? new Set();
    this.expected.set(sessionId, session);
    const expecting = { requestId, tenant, taken, ended };
    session.add(expecting);
    return () => {
      session.delete(expecting);
      if (session.size === 0 && this.expected.get(sessionId) === session) this.expected.delete(sessionId);
    };
  }

  /** Calls the listener with what MCP servers say to all of their clients. */
  onServers(listener: (record: AgentProgress) => void): void {
    this.ofServers.push(listener);
  }

  async close(): Promise<void> {
    this.stopping.abort();
    for (const session of [...this.bySession.values()]) for (const followed of [...session]) followed.end('stopping');
    await this.reading;
  }

  private unlist(session: string, followed: Followed): void {
    const all = this.bySession.get(session);
    all?.delete(followed);
    if (all?.size === 0) this.bySession.delete(session);
  }

  private counted(more: number): void {
    this.count += more;
    this.runtime.metrics.followedRuns.inc(more);
  }

  private async read(from: number): Promise<void> {
    const { bus, log, signatures } = this.runtime;
    const genuine = new GenuineEnds(bus, signatures, log);
    const { signal } = this.stopping;
    const ofKey = (key: string): boolean =>
      this.bySession.has(key) || this.expected.has(key) || (key === serversKey && this.ofServers.length > 0);
    let since = from;
    while (!signal.aborted) {
      try {
        // A record that cannot be decoded is skipped here: the service that it was for reports it.
        const options = { from: { time: since }, follow: true, signal, ofKey, onUndecodable: () => undefined };
        for await (const message of genuine.read(watchedTopics, options)) {
          if (message.topic === topics.progress && message.key === serversKey)
            for (const listener of this.ofServers) listener(message.record);
          const requestId = requestIdOf(message);
          const tenant = tenantOf(message);
          for (const followed of this.bySession.get(message.key) ?? [])
            if ((tenant === null || followed.tenant === tenant) && followed.concerns(requestId, message))
              followed.take(message);
          for (const expected of [...(this.expected.get(message.key) ?? [])])
            if (expected.requestId === requestId && (tenant === null || expected.tenant === tenant))
              if (message.topic === topics.toolsets || message.topic === topics.toolCalls) expected.taken();
              else if (message.topic === topics.responses) expected.ended();
        }
      } catch (error) {
        if (signal.aborted) return;
        log.error({ error: (error as Error).message }, 'runs cannot be followed; trying again');
        await delay(1_000, undefined, { signal }).catch(() => undefined);
        since = this.earliest() - clockSkewMs;
      }
    }
  }

  /**
   * Since when the log must be read for those who follow a run now; what they have seen already does not come again.
   */
  private earliest(): number {
    const begun = [...this.bySession.values()].flatMap((session) => [...session].map(({ since }) => since));
    return begun.reduce((one, other) => Math.min(one, other), this.runtime.clock.now());
  }
}
