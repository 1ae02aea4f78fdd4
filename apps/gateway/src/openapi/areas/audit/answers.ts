import { findingKinds } from '@sluice/audit';
import { listedKinds } from '@sluice/projection';
import { ref } from '../../record-schemas.js';
import { text, textOrNull, whole, time, timeOrNull, list, described, object } from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

/** What verifies the audit. */
export function verificationSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    AuditVerification: object('What a verification of the audit found.', {
      ok: { type: 'boolean', description: 'Whether there is an audit, and nothing was found.' },
      found: whole('Findings in all; the list has the first thousand.'),
      chains: list(ref('AuditChain'), 'The chains.'),
      findings: list(ref('AuditFinding'), 'What is not as the audit wrote it.'),
      sources: object('The records that the entries are about.', {
        compared: whole('Compared with their entries.'),
        gone: whole('No longer on the log.'),
        waiting: whole('Without an entry yet.'),
        not_compared: textOrNull('Why they were not compared to the end; null if they were.'),
      }),
    }),
    AuditChain: object('A chain of the audit.', {
      chain: text('Its name: a topic and a partition.'),
      entries: whole('Its entries.'),
      sequence: whole('The number of the last entry.'),
      head: text('The hash of the last entry.'),
      sealed: whole('Entries up to this number are under a genuine checkpoint.'),
      checkpoints: whole('Its checkpoints.'),
      beyond_last_checkpoint: whole('Entries that no checkpoint covers yet.'),
      waiting: whole('Records that have no entry yet.'),
      waiting_since: textOrNull('Since when the oldest of them is there, as ISO 8601.'),
    }),
    AuditFinding: object('Something that is not as the audit wrote it.', {
      kind: { enum: Object.keys(findingKinds), description: 'What it is.' },
      message: text('The same in a sentence.'),
      what: text('What is known beyond the kind; may be empty.'),
      chain: text('The chain.'),
      entries: {
        type: ['object', 'null'],
        description: 'The `first` and the `last` entry that it is about; null where none is meant.',
      },
      place: {
        type: ['object', 'null'],
        description: 'The `partition` and the `offset` on agent.audit; null where no record is left.',
      },
      source_offset: { type: ['integer', 'null'], description: 'The offset of the source record.' },
      runs: list({ type: 'object' }, 'Runs that it is about: `request_id`, `session_id`, `tenant`. The first twenty.'),
      differences: list(
        { type: 'object' },
        'What was written and what stands there: `entry`, `field`, `was`, `is`. The first twenty.',
      ),
    }),
    Attestation: object('A signed report on tool calls (docs/attestation.md).', {
      type: { const: 'sluice-attestation' },
      version: { const: 1 },
      from: timeOrNull('The begin of the span.'),
      to: timeOrNull('Its end, which is not included.'),
      session: textOrNull('The session whose calls are shown.'),
      signer: text('Who signs.'),
      chains: list({ type: 'object' }, 'The calls, each with a proof that leads to a checkpoint.'),
      signature: text('Over all of it.'),
      quote: { type: ['object', 'null'], description: 'A quote by hardware or software; null for none.' },
    }),
  };
}

export function auditSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    AuditList: object('A page of the audit of the tenant, the newest first.', {
      entries: list(ref('AuditEntry'), 'The entries.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    AuditEntry: object('An entry of the audit.', {
      at: time('When the log took the record that it is about.'),
      kind: { enum: [...listedKinds], description: 'What it is about (docs/audit.md).' },
      user: textOrNull('The actor.'),
      on_behalf_of: textOrNull('The subject that the actor asked for.'),
      request_id: textOrNull('The run.'),
      session_id: textOrNull('The session of the run.'),
      tool: textOrNull('The key of the tool.'),
      outcome: textOrNull('Of a call, a run or an approval.'),
      authentic: {
        type: ['boolean', 'null'],
        description: 'False where another than its service wrote the record; null where the entry does not say.',
      },
      config_version: textOrNull('The version of the configuration that decided.'),
      chain: text('The chain of the audit, which is the topic and partition of the record.'),
      sequence: whole('The place in the chain.'),
      source_offset: whole('The offset of the record.'),
      hash: text('The hash of the entry.'),
      details: {
        type: ['object', 'null'],
        description: 'What docs/audit.md lists for the kind; null for entries of other callers.',
      },
    }),
  };
}

export function letterSchemas(): Readonly<Record<string, JsonSchema>> {
  const redriven = {
    anyOf: [ref('Redrive'), { type: 'null' }],
    description: 'Who re-drove it and when; null if it was not.',
  };
  const same = {
    id: text('Names the dead letter.'),
    topic: text('The topic that the record was on.'),
    partition: whole('Its partition there.'),
    offset: whole('Its offset there.'),
    service: text('The service that could not handle it.'),
    session_id: textOrNull('The session of the record.'),
    code: text('A fault code (docs/errors.md).'),
    reason: text('Why, in a sentence.'),
    attempts: whole('How often it was tried.'),
    appended_at: time('When the log took the record.'),
    failed_at: time('When it was dead-lettered.'),
    redriven,
  };
  return {
    DeadLetterList: object('A page of dead letters, the newest first.', {
      dead_letters: list(ref('ListedDeadLetter'), 'The dead letters.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    ListedDeadLetter: object('A record that could not be processed.', same),
    DeadLetter: object('A record that could not be processed, with what it holds.', {
      ...same,
      headers: { type: 'object', additionalProperties: text('A value.'), description: 'Without the credential.' },
      record: { type: ['object', 'null'], description: 'The record; null where its bytes cannot be read.' },
      unreadable: textOrNull('Why its bytes cannot be read.'),
      redrive: described('RedrivePlan', 'What a redrive would do.'),
    }),
    Redrive: object('A redrive.', { by: text('Who made it.'), at: time('When.') }),
    RedrivePlan: object('What a redrive would do.', {
      possible: { type: 'boolean', description: 'Whether it would do something.' },
      topic: textOrNull('The topic that it would write to.'),
      meaning: text('What happens then, or why nothing can.'),
    }),
    Redriven: object('The record is on the log again.', {
      id: text('Names the dead letter.'),
      status: { const: 'redriven' },
      topic: text('The topic that it is on.'),
      meaning: text('What happens now.'),
    }),
  };
}
