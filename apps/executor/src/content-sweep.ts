import type { Runtime } from '@sluice/host';

const everyMs = 10 * 60_000;

/**
 * Removes content whose time is over, from time to time. It is kept as long as the step that names it was to be when it
 * was written. Any number of executors may look.
 */
export class ContentSweep {
  private readonly timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(private readonly runtime: Pick<Runtime, 'content' | 'log'>) {
    this.sweeping = this.sweep();
    this.timer = setInterval(() => {
      this.sweeping = this.sweeping.then(() => this.sweep());
    }, everyMs);
    this.timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    const { content, log } = this.runtime;
    try {
      // Content that no record names, since its writer ended first, is kept as long as if one did.
      const { expired } = await content.sweep((refs) => Promise.resolve(refs.map(() => true)));
      if (expired > 0) log.debug({ expired }, 'content whose time is over was removed');
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'content whose time is over could not be removed; trying again');
    }
  }
}
