import { createHash } from 'node:crypto';
import { Fault } from '@sluice/core';

/** PostgreSQL's index takes no entry beyond about 2,700 bytes. */
const longestKeyBytes = 1_000;
const digestPrefix = 'sha256/';

/** The key as the table has it: as it is, or its digest if it is too long for the index or no text that PostgreSQL takes. */
export function storedKey(key: string): string {
  // What looks like a digest is digested too, so that nobody can name another one's key by its digest.
  const asItIs = Buffer.byteLength(key) <= longestKeyBytes && isText(key) && !key.startsWith(digestPrefix);
  // UTF-16, because UTF-8 would write every lone surrogate the same way.
  return asItIs ? key : digestPrefix + createHash('sha256').update(key, 'utf16le').digest('hex');
}

/** Throws Fault('unexpected') for what PostgreSQL would refuse or change, before it can spoil what is asked beside it. */
export function requireText(what: string, text: string): void {
  if (isText(text)) return;
  throw new Fault(
    'unexpected',
    `${what} holds a NUL or half a character, which PostgreSQL cannot keep. Escape it.`,
    false,
  );
}

/** Throws Fault('unexpected') for what is no bigint. */
export function requireMilliseconds(what: string, value: number): void {
  if (Number.isSafeInteger(value)) return;
  throw new Fault('unexpected', `${what} is ${value}; pass a whole number of milliseconds.`, false);
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
