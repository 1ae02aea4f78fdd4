import { createHash } from 'node:crypto';

const digestPrefix = 'sha256/';

/**
 * The key as a table has it: as it is, or its digest if it is longer than that or no text that every database keeps.
 */
export function storedKey(key: string, longestBytes: number): string {
  // What looks like a digest is digested too, so that no caller can name another's key by its digest.
  const asItIs = Buffer.byteLength(key) <= longestBytes && isText(key) && !key.startsWith(digestPrefix);
  // UTF-16, because UTF-8 would write every lone surrogate the same way.
  return asItIs ? key : digestPrefix + createHash('sha256').update(key, 'utf16le').digest('hex');
}

/** Whether a database keeps it as it is. */
export function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The first text behind all that begin with the prefix, which is ASCII and not empty. */
export function keyBehind(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
