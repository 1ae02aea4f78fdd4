import { setImmediate } from 'node:timers/promises';
import { linearPattern } from '@sluice/core';
import type { LinearPattern } from '@sluice/core';

/** Time of the processor for all texts of a search, in milliseconds. */
const patienceMs = 250;
/** After so long others have their turn. */
const uninterruptedMs = 10;

/** A pattern took longer for its texts than it may. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** A pattern that a stranger wrote, for one search. */
interface SearchPattern {
  /** Whether the pattern is in the text. Throws OutOfTime. */
  find(text: string): boolean;
  /** To be awaited between texts: lets others have their turn where the pattern was at work for long. */
  pause(): Promise<void>;
}

/** Null where the text is no regular expression of RE2, or a larger one than is run. Without regard to case. */
export function searchPattern(text: string, now: () => number = processorMs): SearchPattern | null {
  const compiled = linearPattern(text, false);
  return compiled === null ? null : new Bounded(compiled, now);
}

class Bounded implements SearchPattern {
  private spent = 0;
  private uninterrupted = 0;

  constructor(
    private readonly compiled: LinearPattern,
    private readonly now: () => number,
  ) {}

  find(text: string): boolean {
    if (this.spent > patienceMs) throw new OutOfTime('The pattern took longer for its texts than it may.');
    const before = this.now();
    // Of a longer text only so much is looked at.
    const isFound = this.compiled.find(text.slice(0, this.compiled.longestText));
    const took = this.now() - before;
    this.spent += took;
    this.uninterrupted += took;
    return isFound;
  }

  async pause(): Promise<void> {
    if (this.uninterrupted < uninterruptedMs) return;
    this.uninterrupted = 0;
    await setImmediate();
  }
}

/** This thread’s time of the processor: a busy machine is not the pattern’s fault. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
