import { randomUUID } from 'node:crypto';
import { claimMemoryMs } from '@sluice/core';
import { readServerReports } from '@sluice/run';
import type { ChangedTool } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import { heldBack } from './events.js';
import type { NotifierService } from './notifier.service.js';

/** How often the reports of the executors are read, milliseconds. */
const lookEveryMs = 2_000;
/** How long the others leave a tool to the notifier that is publishing it. */
const publishingMs = 30_000;
/** Changed tools that one look publishes. */
const mostAtOnce = 100;

/**
 * Has subscriptions sent which tools executors hold back. No record says that: it stands in the reports that the
 * executors keep in the ledger’s database.
 */
export class HeldBackTools {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private readonly owner = randomUUID();

  constructor(
    private readonly runtime: Pick<Runtime, 'bus' | 'clock' | 'documents' | 'ledger' | 'log'>,
    private readonly notifier: Pick<NotifierService, 'outgoing' | 'there'>,
  ) {}

  start(): void {
    this.timer = setInterval(() => {
      this.looking ??= this.look()
        .catch((error: unknown) =>
          this.runtime.log.warn(
            { error: (error as Error).message },
            'tools held back cannot be notified now; trying again',
          ),
        )
        .finally(() => (this.looking = undefined));
    }, lookEveryMs);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    const { clock, documents } = this.runtime;
    const now = clock.now();
    if ((await this.notifier.there(now, ({ events }) => events.includes('server.held_back'))).length === 0) return;
    const reports = [...(await readServerReports(documents, now)).values()].flat();
    const changed = reports.flatMap(({ server, changed: tools }) => tools.map((tool) => ({ server, tool })));
    for (const { server, tool } of changed.slice(0, mostAtOnce)) await this.publish(server, tool, now);
  }

  /** Once in a week for each definition; once more after a process was lost before it wrote that down. */
  private async publish(server: string, tool: ChangedTool, now: number): Promise<void> {
    const { bus, ledger } = this.runtime;
    const happened = heldBack(server, tool, now);
    const key = `notification/first/${happened.id}`;
    const done = await ledger.find(`${key}/done`);
    if (done !== undefined && done.expiresAt > now) return;
    const claim = await ledger.claim({ key, owner: this.owner, now, ttlMs: publishingMs });
    if (claim.owner !== this.owner) return;
    await bus.publish(await this.notifier.outgoing(happened, now));
    await ledger.claim({ key: `${key}/done`, owner: this.owner, now, ttlMs: claimMemoryMs });
  }
}
