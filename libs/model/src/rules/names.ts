import { isEmptyWord, wordsOf } from './words.js';
import { intentOf } from './intents.js';

const capitalised = /\p{Lu}[\p{L}\p{N}’'-]*(?:\s+\p{Lu}[\p{L}\p{N}’'-]*)*/gu;

/** What a text puts in quotation marks. */
export function quotedIn(text: string): string[] {
  return [...text.matchAll(/"([^"]+)"|“([^”]+)”|«([^»]+)»/g)].map((match) =>
    (match[1] ?? match[2] ?? match[3] ?? '').trim(),
  );
}

/**
 * The names in a clause: what stands in quotation marks, or else its capitalised words, neighbours together ("New
 * Zealand"). The word at its beginning is capital anyway and counts only where no other name is found.
 */
export function namesIn(clause: string): string[] {
  const quoted = quotedIn(clause);
  if (quoted.length > 0) return [...new Set(quoted)];
  const found = [...clause.matchAll(capitalised)].flatMap((match) => {
    const words = match[0].split(/\s+/);
    const atBeginning = clause.slice(0, match.index).trim() === '';
    // "Compare France": the first word is an order, the rest is a name.
    const kept = atBeginning && isNoName(words[0] ?? '') ? words.slice(1) : words;
    const name = kept.join(' ').replace(/[’']s?$/, '');
    return name === '' || name === 'I' ? [] : [{ name, alone: atBeginning && words.length === 1 }];
  });
  const certain = found.filter((each) => !each.alone);
  return [...new Set((certain.length > 0 ? certain : found).map((each) => each.name))];
}

/** For a question typed without capitals: its last word, where it is about anything and not all there is. */
export function lastWordOf(clause: string): string | undefined {
  const words = wordsOf(clause);
  const last = words.at(-1);
  const others = words.slice(0, -1).filter((word) => !isEmptyWord(word));
  return last !== undefined && others.length > 0 && !isEmptyWord(last) && !/est$|^\d+$/.test(last) ? last : undefined;
}

function isNoName(word: string): boolean {
  return isEmptyWord(word) || intentOf(word) !== undefined;
}
