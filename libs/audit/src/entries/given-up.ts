import { sha256 } from '@sluice/contracts';
import type { Dead } from '@sluice/bus';
import { cut, draftEntry } from './draft-entry.js';
import type { EntryDraft } from './draft-entry.js';

/** A record that cannot be described: a hash over its bytes stands for it, so that the chain has no hole. */
export function deadLetterEntry({ message, key, value, code, reason }: Dead): EntryDraft {
  const kind = message === null ? 'undecodable' : 'not_told';
  const details = { code, reason: cut(reason), value_hash: sha256(value), bytes: value.byteLength };
  return draftEntry(kind, { sessionId: key }, details);
}

/** The audit’s own place was lost, and found again on the log of what it had written: this is where it went on. */
export function resumedEntry(details: { readonly sequence: number; readonly source_offset: number }): EntryDraft {
  return draftEntry('chain_resumed', {}, details);
}
