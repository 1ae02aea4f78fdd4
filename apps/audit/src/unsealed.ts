import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '@sluice/contracts';
import { chainOf, checkpointBeside, signHead } from '@sluice/audit';
import type { Head, SourcePosition } from '@sluice/audit';
import type { Runtime } from '@sluice/host';
import type { Pace } from './pace.js';

interface Standing {
  readonly place: Pick<SourcePosition, 'topic' | 'partition'>;
  readonly head: Head;
  /** When the oldest entry came that no checkpoint covers; null if all are covered. */
  readonly since: number | null;
}

/** Looks this often within the time after which a chain is sealed. */
const looks = 4;
/** How long a stop waits for its last checkpoints, milliseconds; without them the chains are sealed when they go on. */
const lastMs = 2_000;

/** Seals chains that nothing is added to any more: a checkpoint of what is on the log, beside the chain. */
export class Unsealed {
  private readonly chains = new Map<string, Standing>();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private isLooking = false;

  constructor(
    private readonly runtime: Runtime,
    private readonly pace: Pace,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.look(), this.pace.milliseconds / looks);
  }

  /** A chain that another process, or this one before, may have left without a checkpoint. */
  taken(place: Pick<SourcePosition, 'topic' | 'partition'>, head: Head | null): void {
    if (head !== null) this.moved(place, head);
  }

  /** The chain was committed up to this head. */
  moved(place: Pick<SourcePosition, 'topic' | 'partition'>, head: Head): void {
    const chain = chainOf(place);
    const before = this.chains.get(chain)?.since ?? null;
    const since = head.sequence === head.checkpoint ? null : (before ?? this.runtime.clock.now());
    const { topic, partition } = place;
    this.chains.set(chain, { place: { topic, partition }, head, since });
    this.runtime.metrics.auditChains.set(this.chains.size);
  }

  /** Seals what is not sealed yet, if the log takes it now. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    const ended = new AbortController();
    const sealed = this.looking.then(() => this.sealAll(0)).finally(() => ended.abort());
    await Promise.race([sealed, delay(lastMs, undefined, { signal: ended.signal }).catch(() => undefined)]);
  }

  private look(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    this.looking = this.sealAll(this.pace.milliseconds).finally(() => (this.isLooking = false));
  }

  private async sealAll(olderThan: number): Promise<void> {
    const { clock, metrics, log } = this.runtime;
    const now = clock.now();
    const waiting = [...this.chains].flatMap(([chain, { since }]) => (since === null ? [] : [{ chain, since }]));
    const oldest = waiting.reduce((least, { since }) => Math.min(least, since), now);
    metrics.auditUnsealed.set(Math.max(0, now - oldest) / 1_000);
    for (const { chain, since } of waiting) {
      if (now - since < olderThan) continue;
      try {
        await this.seal(chain);
      } catch (error) {
        log.warn({ chain, reason: (error as Error).message }, 'a chain could not be sealed; it is tried again');
      }
    }
  }

  private async seal(chain: string): Promise<void> {
    const { clock, metrics, bus, signatures } = this.runtime;
    const standing = this.chains.get(chain);
    if (standing === undefined) return;
    const { place, head } = standing;
    const at = clock.now();
    const record = checkpointBeside(place, head, at, await signHead(place, head, at, signatures));
    await bus.publish([{ topic: topics.audit, key: chain, record }]);
    metrics.auditCheckpoints.inc();
    // What came in the meantime waits for a checkpoint of its own.
    const latest = this.chains.get(chain);
    if (latest !== undefined)
      this.chains.set(chain, { ...latest, since: latest.head.sequence === head.sequence ? null : at });
  }
}
