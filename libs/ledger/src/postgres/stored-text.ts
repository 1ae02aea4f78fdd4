import { Fault } from '@sluice/core';
import { isText, storedKey as keyAsStored } from '../stored-key.js';

/** PostgreSQL's index takes no entry beyond about 2,700 bytes. */
const longestKeyBytes = 1_000;
/** The key as the tables of PostgreSQL have it. */
export function storedKey(key: string): string {
  return keyAsStored(key, longestKeyBytes);
}

/**
 * Throws Fault('unexpected') for what PostgreSQL would refuse or change, before it can spoil what is asked beside it.
 */
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
