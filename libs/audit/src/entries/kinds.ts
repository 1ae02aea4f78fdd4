import { recordEntryKinds } from '@sluice/contracts';
import type { RecordEntryKind } from '@sluice/contracts';

/** Entries that tell of no record, or of one that only a hash stands for. */
const bareKinds = {
  undecodable: { of: 'an unreadable record', with: 'the hash of its bytes' },
  not_told: { of: 'a record the audit failed on', with: 'the code, the hash of its bytes' },
  chain_resumed: { of: 'nothing', with: 'the audit had lost its place and found it again' },
  checkpoint: { of: 'nothing', with: 'a signature over where the chain stands' },
} as const;

export type EntryKind = RecordEntryKind | keyof typeof bareKinds;

/** Whether entries of the kind have nothing that a record says. */
export function isBareKind(kind: string): boolean {
  return Object.hasOwn(bareKinds, kind);
}

/** Every kind of entry with what it tells of: `record` is the name of the record, where it tells of all of them. */
export const entryKinds: readonly { readonly kind: EntryKind; readonly of: string; readonly with: string }[] = [
  ...recordEntryKinds.map(({ kind, record, of = record, with: what }) => ({ kind, of, with: what })),
  ...Object.entries(bareKinds).map(([kind, entry]) => ({ kind: kind as EntryKind, ...entry })),
];
