import { stemmer } from 'stemmer';
import { hashFactor, hashOf } from './word-table.js';

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
  eachWord(text, text.length, (of, from, to) => {
    for (const stem of stemsOfWord(of.slice(from, to))) stems.push(stem);
  });
  return stems;
}

/** Gets a word, from one place of a text to another, and its hash (hashOf). */
type TakeWord = (text: string, from: number, to: number, hash: number) => void;

/** Gives the words of a text’s first characters, of which stemsOfWord gives the stems. */
export function eachWord(text: string, length: number, take: TakeWord): void {
  if (isPlain(text, length)) eachPlainWord(text, Math.min(length, text.length), take);
  else
    for (const word of text
      .slice(0, length)
      .replace(joined, ' ')
      .match(/[\p{L}\p{M}\p{N}_.:-]+/gu) ?? [])
      take(word, 0, word.length, hashOf(word, 0, word.length));
}

/** What stands beside ASCII in most English texts, dashes and quotes among it, is in no word. */
const firstPunctuation = 0x2000;
const lastPunctuation = 0x206f;
const rightQuote = 0x2019;
const apostrophe = 0x27;

function isPlain(text: string, length: number): boolean {
  const end = Math.min(length, text.length);
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f && (code < firstPunctuation || code > lastPunctuation)) return false;
  }
  return true;
}

const letter = 2;
/** By ASCII code: 0 for what is in no word, `letter`, or 1 for anything else that is in one. */
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z]/.test(character) ? letter : /[\d_.:-]/.test(character) ? 1 : 0;
});
const kindAt = (text: string, at: number): number => kinds[text.charCodeAt(at)] ?? 0;

/** What English joins to a word, by its first letter; see `joined`. */
const joinedByFirst: ReadonlyMap<string, string> = new Map(
  ['s', 'm', 're', 've', 'd', 'll', 't'].map((one) => [one.charAt(0), one]),
);

/** As the expression that finds words in any script, without it. */
function eachPlainWord(text: string, end: number, take: TakeWord): void {
  let start = -1;
  let hash = 0;
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < kinds.length && kinds[code] !== 0) {
      if (start < 0) start = at;
      hash = (Math.imul(hash, hashFactor) + code) | 0;
      continue;
    }
    if (start >= 0) take(text, start, at, hash);
    start = -1;
    hash = 0;
    if (code === apostrophe || code === rightQuote) at += lengthOfJoined(text, at, end);
  }
  if (start >= 0) take(text, start, end, hash);
}

/** Characters that are joined to the word before this apostrophe; 0 for none. */
function lengthOfJoined(text: string, at: number, end: number): number {
  if (at === 0 || kindAt(text, at - 1) !== letter) return 0;
  const suffix = joinedByFirst.get(text.charAt(at + 1).toLowerCase());
  if (suffix === undefined || at + 1 + suffix.length > end) return 0;
  if (text.slice(at + 1, at + 1 + suffix.length).toLowerCase() !== suffix) return 0;
  const next = at + 1 + suffix.length;
  return next < end && kindAt(text, next) === letter ? 0 : suffix.length;
}

/** Stems of words that were met before: requests repeat their tools, and tools their words. */
const known = new Map<string, readonly string[]>();
const mostKnown = 20_000;
const longestKnown = 64;

export function stemsOfWord(word: string): readonly string[] {
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
