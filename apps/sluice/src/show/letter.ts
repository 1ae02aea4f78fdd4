import { createHash } from 'node:crypto';
import { faultCodes, printable, printableIn } from '@sluice/core';
import { recordNames, recordToJson } from '@sluice/contracts';
import type { DeadLetter } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import type { Letter, Permit, Plan } from '@sluice/run';
import type { Paint } from './paint.js';
import { shorten } from './story.js';

/** A letter with what became of it. */
export interface ShownLetter {
  readonly letter: Letter;
  /** Who re-drove it and when; null if it was not. */
  readonly redriven: Permit | null;
}

const bytesShown = 2_000;

/** A dead letter in two lines. */
export function letterLines(shown: ShownLetter, paint: Paint): string {
  const { letter, redriven } = printableIn(shown);
  const { id, dead, session } = letter;
  const done = redriven === null ? '' : paint.good(`  re-driven by ${redriven.by}, ${time(redriven.at)}`);
  const from = `${dead.topic} ${dead.partition}/${dead.offset}`;
  return (
    `${paint.strong(id)}  ${time(dead.failedAt)}  ${paint.bad(dead.code)}  ${from}  session ${session || '(none)'}${done}\n` +
    `${paint.dim(`   ${shorten(dead.reason)}`)}\n`
  );
}

/** All that is known of one: what, why, where from, what it says, and what a redrive would do. */
export function letterPage(shown: ShownLetter, plan: Plan, paint: Paint): string {
  const { letter, redriven } = printableIn(shown);
  const { id, dead, session, content } = letter;
  const headers = Object.entries(withoutCredentials(dead.headers)).map(([name, value]) => `${name}: ${value}`);
  const rows: readonly (readonly [string, string])[] = [
    ['dead letter', paint.strong(id)],
    ['from', `${dead.topic} ${dead.partition}/${dead.offset}, appended ${time(dead.timestamp)}`],
    ['given up', `by ${dead.group}, ${time(dead.failedAt)}, after ${times(dead.attempts)}`],
    ['code', `${paint.bad(dead.code)}: ${meaningOf(dead.code)}`],
    ['reason', dead.reason],
    ['session', session || '(none)'],
    ['headers', headers.join(', ') || 'none'],
    ['re-driven', redriven === null ? 'no' : `by ${redriven.by}, ${time(redriven.at)}`],
    ...(redriven === null ? [['redrive', consequence(plan)] as const] : []),
    content.topic === null
      ? ['bytes', `${describeBytes(dead)}\n${content.reason}\n${beginning(dead)}`]
      : ['record', printable(JSON.stringify(recordToJson(recordNames[content.topic], content.record), null, 2))],
  ];
  const gap = ' '.repeat(13);
  return rows
    .map(([label, text]) => `${paint.dim(label.padEnd(13))}${hideSecrets(text).replaceAll('\n', `\n${gap}`)}\n`)
    .join('');
}

/** The same for machines; the bytes as base64 where they cannot be read. */
export function letterJson({ letter, redriven }: ShownLetter): object {
  const { id, dead, session, content } = letter;
  const { topic, partition, offset, group, key, timestamp, code, reason, attempts, failedAt } = dead;
  const record = content.topic === null ? null : recordToJson(recordNames[content.topic], content.record);
  const shown = {
    id,
    ...{ topic, partition, offset, group, key, session, timestamp, code, reason, attempts, failed_at: failedAt },
    headers: withoutCredentials(dead.headers),
    redriven: redriven === null ? null : { by: redriven.by, at: redriven.at },
    record,
    unreadable: content.topic === null ? content.reason : null,
  };
  return JSON.parse(hideSecrets(JSON.stringify(shown))) as object;
}

export function consequence(plan: Plan): string {
  return printable(plan.kind === 'refused' ? `no: ${plan.why}` : `to ${plan.message.topic}: ${plan.means}`);
}

export function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** What is shown must be of no use to a reader: neither a credential that stands where it should not, nor a grant. */
function hideSecrets(text: string): string {
  return (
    text
      .replaceAll(/\bBearer\s+[\w.~+/=-]+/gi, 'Bearer (hidden)')
      // One signature may cover several records: each then carries its own content and its place behind it.
      .replaceAll(/\beyJ[\w-]*\.[\w-]+\.[\w-]*(?:~[\w.~-]*)?/g, '(signature, hidden)')
  );
}

function meaningOf(code: string): string {
  return Object.hasOwn(faultCodes, code) ? faultCodes[code as keyof typeof faultCodes] : 'A code of another version.';
}

function describeBytes({ value }: DeadLetter): string {
  return `${value.byteLength} bytes, SHA-256 ${createHash('sha256').update(value).digest('hex')}`;
}

function beginning({ value }: DeadLetter): string {
  const text = Buffer.from(value.subarray(0, bytesShown)).toString('utf8');
  // What a terminal would act upon is shown as what it is not.
  return text.replaceAll(/[^\P{C}\n]/gu, '·');
}

function times(attempts: number): string {
  return attempts === 1 ? 'one attempt' : `${attempts} attempts`;
}
