/** What follows a backslash where ECMAScript gives it a meaning, or where it is no letter and so stands for itself. */
const usual = /^(?:[^A-Za-z]|[bBdDfknrsStvwW]|c[A-Za-z]|u[\da-fA-F]{4}|x[\da-fA-F]{2})/;

/**
 * Characters of a pattern in a schema: how long an engine reads one grows with its length, and nothing can stop it
 * there.
 */
export const longestSchemaPattern = 4_000;

/**
 * The flags under which a schema’s `pattern` is the regular expression that its author meant: `u`, or none where it
 * only compiles without. Null where it is too long, where it compiles under neither, and where it would mean
 * something else: without `u`, another dialect’s anchor or class is plain text.
 */
export function regexFlags(pattern: string): 'u' | '' | null {
  if (pattern.length > longestSchemaPattern) return null;
  if (compiles(pattern, 'u')) return 'u';
  const isForeign =
    /\[:\^?\w+:\]/.test(pattern) ||
    [...pattern.matchAll(/\\[^]/g)].some(({ index }) => !usual.test(pattern.slice(index + 1, index + 6)));
  return isForeign || !compiles(pattern, '') ? null : '';
}

function compiles(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}
