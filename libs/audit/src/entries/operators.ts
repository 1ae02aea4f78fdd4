import { isSecurityFault } from '@sluice/core';
import { isPart, sha256 } from '@sluice/contracts';
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

/**
 * A configuration that came into force, or a tool of some as a part of its own; not authentic, it is one that services
 * refuse.
 */
export function configurationEntry(record: ConfigVersion, { authentic }: Facts): EntryDraft {
  const { version, configuration, source, compiledAt, parts } = record;
  if (isPart(record)) return partEntry(record, authentic);
  return draftEntry(
    'configuration',
    { configVersion: version },
    {
      authentic,
      version,
      source: cut(source),
      configuration_hash: sha256(configuration),
      compiled_at: time(compiledAt),
      // Of one that stands in one record nothing more is said than ever.
      ...(parts.length === 0 ? {} : { parts: parts.length, parts_hash: sha256(parts.join('\n')) }),
    },
  );
}

/** By its name, which is its hash. Which configurations have it, their own records say. */
function partEntry({ version, configuration }: ConfigVersion, authentic: boolean): EntryDraft {
  return draftEntry('configuration_part', {}, { authentic, part: cut(version), tool: cut(keyIn(configuration)) });
}

/** '' where it is no tool. */
function keyIn(text: string): string {
  try {
    const { key } = JSON.parse(text) as { readonly key?: unknown };
    return typeof key === 'string' ? key : '';
  } catch {
    return '';
  }
}
