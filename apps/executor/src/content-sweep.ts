import type { Runtime } from '@sluice/host';
import { namedContent } from './named-content.js';

const everyMs = 10 * 60_000;

/**
 * Removes content whose time is over, and what no record came to name within a day, from time to time. It is kept as
 * long as the step that names it was to be when it was written. Any number of executors may look.
 */
export class ContentSweep {
  private readonly closing = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private sweeping: Promise<void>;

  constructor(private readonly runtime: Pick<Runtime, 'bus' | 'content' | 'log'>) {
    this.sweeping = this.sweep();
    this.timer = setInterval(() => {
      this.sweeping = this.sweeping.then(() => this.sweep());
    }, everyMs);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    const { content, log } = this.runtime;
    const { signal } = this.closing;
    try {
      const { expired, unnamed } = await content.sweep(
        (written) => namedContent(written, this.runtime, signal),
        signal,
      );
      if (expired > 0) log.debug({ expired }, 'content whose time is over was removed');
      if (unnamed > 0) log.info({ unnamed }, 'content that no record came to name was removed');
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error: (error as Error).message }, 'content could not be swept; trying again');
    }
  }
}
