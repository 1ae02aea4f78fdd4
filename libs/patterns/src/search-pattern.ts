import { setImmediate } from 'node:timers/promises';
import { RE2JS } from 're2js';
import { expandedSize } from './expanded-size.js';

/** Characters of a pattern; a longer one counts as no regular expression. */
export const longestPattern = 512;
/**
 * Instructions of the compiled pattern. `(.{0,1000})` forty-five times has 90,000, and each character may go through
 * all of them.
 */
export const largestProgram = 1_000;
/**
 * Instructions times characters of one text: of a longer text only so much is looked at, so that no text is long at
 * work.
 */
const mostSteps = 500_000;
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
  if (text.length > longestPattern || expandedSize(text) > largestProgram) return null;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
  } catch {
    return null;
  }
  const size = compiled.programSize();
  return size > largestProgram ? null : new Bounded(compiled, Math.trunc(mostSteps / Math.max(1, size)), now);
}

class Bounded implements SearchPattern {
  private spent = 0;
  private uninterrupted = 0;

  constructor(
    private readonly compiled: RE2JS,
    private readonly longestText: number,
    private readonly now: () => number,
  ) {}

  find(text: string): boolean {
    if (this.spent > patienceMs) throw new OutOfTime('The pattern took longer for its texts than it may.');
    const before = this.now();
    const isFound = this.compiled.matcher(text.slice(0, this.longestText)).find();
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
