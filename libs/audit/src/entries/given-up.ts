import { sha256 } from '@sluice/contracts';
import type { Dead } from '@sluice/bus';
import { cut, told } from './told.js';
import type { Told } from './told.js';

/** A record that cannot be described: a hash over its bytes stands for it, so that the chain has no hole. */
export function givenUpEntry({ message, key, value, code, reason }: Dead): Told {
  const kind = message === null ? 'undecodable' : 'not_told';
  const details = { code, reason: cut(reason), value_hash: sha256(value), bytes: value.byteLength };
  return told(kind, { sessionId: key }, details);
}

/** The audit’s own place was lost, and found again on the log of what it had written: this is where it went on. */
export function resumedEntry(details: { readonly sequence: number; readonly source_offset: number }): Told {
  return told('chain_resumed', {}, details);
}
