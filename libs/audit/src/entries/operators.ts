import { isSecurityFault } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ConfigVersion, DeadLetter } from '@sluice/contracts';
import { cut, time, draftEntry } from './draft-entry.js';
import type { Facts, EntryDraft } from './draft-entry.js';

/** A dead-lettered record: by its place and its hash, since its bytes may hold anything. */
export function deadLetterEntry(letter: DeadLetter): EntryDraft {
  const { code, value } = letter;
  return draftEntry(
    'dead_letter',
    { sessionId: letter.key },
    {
      topic: letter.topic,
      partition: letter.partition,
      offset: letter.offset,
      group: letter.group,
      code,
      reason: cut(letter.reason),
      // A forged record: it does not belong to the run that it names.
      security: isSecurityFault(code),
      invalid_state_transition: code === 'state_altered',
      attempts: letter.attempts,
      value_hash: sha256(value),
      bytes: value.byteLength,
      failed_at: time(letter.failedAt),
    },
  );
}

/** A configuration that came into force; not authentic, it is one that services refuse. */
export function configurationEntry(
  { version, configuration, source, compiledAt }: ConfigVersion,
  { authentic }: Facts,
): EntryDraft {
  return draftEntry(
    'configuration',
    { configVersion: version },
    {
      authentic,
      version,
      source: cut(source),
      configuration_hash: sha256(configuration),
      compiled_at: time(compiledAt),
    },
  );
}
