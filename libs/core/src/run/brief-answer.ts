import { utf8Length } from '../json.js';

/** How far back from the cap a better place to cut is looked for, as a share of what fits. */
const lookBack = 0.3;

/** Where a text may end, the best first: behind a paragraph, a line, a sentence, a word. */
const endings = [/\n\s*\n/g, /\n/g, /[.!?…](?=\s)/g, /\s/g];

/**
 * An agent’s answer within so many UTF-8 bytes of JSON text (K-66): as it is, or up to a sensible place near the cap,
 * with a sentence that says how much was left out. The summary that agents are asked to begin with is what stays.
 */
export function briefAnswer(answer: string, atMost: number): string {
  const text = answer.toWellFormed();
  const bytes = written(text);
  if (bytes <= atMost) return text;
  const room = atMost - written(leftOut(bytes, bytes));
  const kept = upToASensiblePlace(longestWithin(text, Math.max(0, room)));
  return kept + leftOut(bytes - written(kept), bytes);
}

function leftOut(bytes: number, of: number): string {
  return `\n\n[The agent’s answer was longer: ${bytes} of its ${of} bytes were left out.]`;
}

/** As it counts against a result’s limit, but for the quotes around it. */
function written(text: string): number {
  return utf8Length(JSON.stringify(text)) - 2;
}

function longestWithin(text: string, bytes: number): string {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // Half a surrogate pair is written as an escape, which is longer: it never makes the difference.
    if (written(text.slice(0, middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  const kept = text.slice(0, low);
  return kept.isWellFormed() ? kept : kept.slice(0, -1);
}

function upToASensiblePlace(text: string): string {
  const from = Math.floor(text.length * (1 - lookBack));
  for (const ending of endings) {
    const last = [...text.matchAll(ending)].findLast((match) => match.index >= from);
    if (last !== undefined) return text.slice(0, last.index + last[0].length).trimEnd();
  }
  return text;
}
