import { createHash } from 'node:crypto';
import { faultCodes, printable, printableIn } from '@sluice/core';
import { recordNames, recordToJson } from '@sluice/contracts';
import type { DeadLetter } from '@sluice/contracts';
import { withoutCredentials } from '@sluice/bus';
import { hideSecrets } from '@sluice/run';
import type { Plan, ShownLetter } from '@sluice/run';
import type { Paint } from './paint.js';
import { shorten } from './story.js';

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
    ['failed', `by ${dead.group}, ${time(dead.failedAt)}, after ${times(dead.attempts)}`],
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

export function consequence(plan: Plan): string {
  return printable(plan.kind === 'refused' ? `no: ${plan.why}` : `to ${plan.message.topic}: ${plan.means}`);
}

export function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
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
