import { sha256 } from '@sluice/contracts';

/**
 * Longest name that an index holds as it is, UTF-16 units: PostgreSQL’s take no entry beyond 2,700 bytes, in which up
 * to three stand.
 */
const longest = 200;
const kept = 160;

/** A name as the tables have it, for what is searched for: a sender may have written one of any length. */
export function indexed(name: string): string {
  return name.length <= longest ? name : `${name.slice(0, kept).toWellFormed()}…${sha256(name).slice(0, 24)}`;
}
