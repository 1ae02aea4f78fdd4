import type { KafkaReader } from '../../cluster/reader.js';

/** Requests, five at once, never more under way than a slow machine can do. */
export class Load {
  asked = 0;

  constructor(private readonly reader: KafkaReader) {}

  /** Asks while the work goes on, and waits until all that was asked has ended. */
  async during(work: () => Promise<void>): Promise<void> {
    let working = true;
    const asking = (async () => {
      for (; working; this.asked += 5) {
        const ids = Array.from({ length: 5 }, (_, n) => this.asked + n);
        await this.reader.publishJson(
          ids.map((n) => ({ question: 'Do it', group: ['work'], request_id: `r-${n}`, session_id: `s-${n}` })),
        );
        while (working && this.asked - this.reader.ended.size >= 10)
          await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    try {
      await work();
    } finally {
      working = false;
      await asking;
    }
    await this.reader.until(() => this.reader.ended.size >= this.asked, 180_000);
    // Whatever somebody might still have to say would come now.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }

  /** Resolves once so many more runs have ended. */
  async ends(more: number): Promise<void> {
    const before = this.reader.ended.size;
    await this.reader.until(() => this.reader.ended.size >= before + more, 180_000);
  }
}
