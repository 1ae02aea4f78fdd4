import { type JsonValue, parseExactJson } from '@sluice/core';
import { addUsage } from './screen.js';

/** An answer that came whole, to be changed. */
export type Answer = Record<string, JsonValue>;

/** The answers of all rounds as one: the last, with the usage of all, and with what `merge` puts into it. */
export function merged(bodies: readonly string[], merge: (answers: readonly Answer[], last: Answer) => void): string {
  const answers = bodies.map((body) => parseExactJson(body) as Answer);
  const last = answers.at(-1);
  if (last === undefined) throw new Error('There is no answer.');
  const usages = answers.map((answer) => answer['usage']);
  if (last['usage'] !== undefined) last['usage'] = usages.reduce(addUsage) ?? null;
  merge(answers, last);
  return JSON.stringify(last);
}
