import type { Topic } from '@sluice/contracts';
import type { StoredPosition } from './append.js';
import type { Fetch } from './fetch.js';
import type { Progress } from './progress.js';

/** How far a consumer has read in each of its topics, which is further than what it has finished. */
export class Cursors {
  private readonly offsets: Map<Topic, number>;

  constructor(
    topics: readonly Topic[],
    private readonly fetch: Fetch,
    private readonly progress: Progress,
  ) {
    this.offsets = new Map(topics.map((topic) => [topic, progress.of(topic).prefix]));
  }

  /**
   * What comes next in the log and is not finished, over all topics in append order, from at most `limit` records;
   * moves on.
   */
  next(limit: number): readonly StoredPosition[] {
    const { fetch, progress } = this;
    for (const [topic, offset] of this.offsets) this.offsets.set(topic, progress.of(topic).unfinishedFrom(offset));
    return fetch.places(this.offsets, fetch.knownEnd(), limit).filter(({ topic, offset }) => {
      const position = progress.of(topic);
      const expected = this.offsets.get(topic) as number;
      this.offsets.set(topic, offset + 1);
      // Offsets that are missing were trimmed away: they will never finish.
      if (offset > expected) position.finish(expected, offset);
      return position.unfinishedFrom(offset) === offset;
    });
  }
}
