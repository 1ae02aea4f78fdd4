import { stemmer } from 'stemmer';

/** Scripts that put no blank between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Whether a text is, in part, of a script without blanks. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/** What English joins to a word by an apostrophe. */
const joined = /(?<=\p{L})['’](?:s|m|re|ve|d|ll|t)(?!\p{L})/giu;

/**
 * Words of a text, reduced to their stems; names are split at separators and at changes of case, and kept whole
 * besides. A script without blanks is split by the dictionaries of `Intl.Segmenter`.
 */
export function stemsOf(text: string): readonly string[] {
  const stems: string[] = [];
  for (const word of text.replace(joined, ' ').match(/[\p{L}\p{M}\p{N}_.:-]+/gu) ?? [])
    stems.push(...stemsOfWord(word));
  return stems;
}

/** Stems of words that were met before: requests repeat their tools, and tools their words. */
const known = new Map<string, readonly string[]>();
const mostKnown = 20_000;
const longestKnown = 64;

function stemsOfWord(word: string): readonly string[] {
  const before = known.get(word);
  if (before !== undefined) return before;
  const stems = isUnspaced(word) ? segmentsOf(word).flatMap(stemsOfName) : stemsOfName(word);
  if (known.size >= mostKnown) known.clear();
  if (word.length <= longestKnown) known.set(word, stems);
  return stems;
}

function segmentsOf(text: string): readonly string[] {
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
}

function stemsOfName(word: string): readonly string[] {
  const parts = word
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((part) => part !== '');
  const stems = parts.map((part) => stemmer(part));
  if (parts.length > 1) stems.push(parts.join(''));
  return stems.filter((stem) => !commonStems.has(stem));
}

/** Words of English that say nothing about what a tool does. */
const commonStems: ReadonlySet<string> = new Set(
  (
    'a about after again all also am an and any are as at be been before being between both but by can could did do ' +
    'does done dont each either few for from had has have he her here him his how however i id if im in into is it ' +
    'its ive just may me might more most much must my no not of on once only or other our out over own please same ' +
    'she should so some such than thank that the their them then there these they this those through to too under ' +
    'until upon us very via want was we were what when where which while who will with within without would yet ' +
    'you your'
  )
    .split(' ')
    .flatMap((word) => [word, stemmer(word)]),
);

/** A question’s sentences are bounded, so that a book costs no more than its words. */
const mostSentences = 16;

/** The sentences of a question that say something, as their stems; none where there is only one. */
export function sentencesOf(question: string): readonly (readonly string[])[] {
  const sentences = question
    .split(/(?<=[.!?;])\s+|(?<=[。！？；])|\n+/u)
    .map((sentence) => [...new Set(stemsOf(sentence))])
    .filter((stems) => stems.length >= 2)
    .slice(0, mostSentences);
  return sentences.length < 2 ? [] : sentences;
}
