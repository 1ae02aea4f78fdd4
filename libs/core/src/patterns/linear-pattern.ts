import { RE2JS } from 're2js';
import { expandedSize } from './expanded-size.js';

/** Characters of a pattern; a longer one counts as no regular expression. */
export const longestPattern = 512;
/**
 * Instructions of the compiled pattern. `(.{0,1000})` forty-five times has 90,000, and each character may go through
 * all of them.
 */
export const largestProgram = 1_000;
/** Instructions times characters of one text, so that no text is long at work. */
const mostSteps = 500_000;

/** A regular expression of RE2, which takes a time that is linear in its text. */
export interface LinearPattern {
  /** Characters of a text that it is run on, at most. */
  readonly longestText: number;
  find(text: string): boolean;
}

/** Null where the text is no regular expression of RE2, or a larger one than is run. */
export function linearPattern(text: string, isCaseSensitive: boolean): LinearPattern | null {
  if (text.length > longestPattern || expandedSize(text) > largestProgram) return null;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(text, isCaseSensitive ? 0 : RE2JS.CASE_INSENSITIVE);
  } catch {
    return null;
  }
  const size = compiled.programSize();
  if (size > largestProgram) return null;
  return {
    longestText: Math.trunc(mostSteps / Math.max(1, size)),
    find: (looked) => compiled.matcher(looked).find(),
  };
}
