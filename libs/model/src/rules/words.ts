/** Words that say nothing about what a question is about. */
const emptyWords = new Set(
  (
    'a about all also an and any are as at be been being but by can could did do does each every few for from get give had has have her here ' +
    'him his how i if in into is it its just let list many may me more most much my name no not now of on one or other our out over please ' +
    'she should show so some such tell than that the their them then there these they this those to up us use used using was we were what ' +
    'when where which while who whom whose why will with would you your'
  ).split(' '),
);

/** The words of a text as they stand. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]+(?:[’'][\p{L}]+)?/gu) ?? [];
}

/** The word without the endings that English adds: plural, possessive, -ing, -ed, and the e they drop. */
export function stem(word: string): string {
  const bare = word.toLowerCase().replace(/[’']s?$/, '');
  if (bare.length > 4 && bare.endsWith('ies')) return `${bare.slice(0, -3)}y`;
  if (bare.length > 4 && /(?:s|x|z|ch|sh)es$/.test(bare)) return bare.slice(0, -2);
  const single = bare.length > 3 && /[^su]s$/.test(bare) ? bare.slice(0, -1) : bare;
  const plain = single.length > 5 ? single.replace(/(?:ing|ed)$/, '') : single;
  return plain.length > 3 ? plain.replace(/e$/, '') : plain;
}

export function isEmptyWord(word: string): boolean {
  return emptyWords.has(word.toLowerCase().replace(/[’']\p{L}+$/u, ''));
}

/** The words that say what a text is about, as they stand. */
export function contentWords(text: string): string[] {
  return wordsOf(text).filter((word) => !isEmptyWord(word) && !/^\d+$/.test(word));
}

/** The distinct stems of a text's content words. */
export function stemsOf(text: string): Set<string> {
  return new Set(contentWords(text).map(stem));
}
