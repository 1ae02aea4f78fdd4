/** Of a question, so many characters are looked at, and so many words kept. */
const longestText = 2_000;
const mostWords = 32;
const longestWord = 64;

/** Scripts that write words without blanks between them. */
const withoutBlanks =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}]/u;

let segmenter: Intl.Segmenter | undefined;

/** The words of a text in small letters, each once: what questions are found by, and what is searched for. */
export function wordsOf(text: string): readonly string[] {
  const plain = text.slice(0, longestText).toWellFormed().normalize('NFKC').toLowerCase();
  const found = withoutBlanks.test(plain) ? segments(plain) : (plain.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []);
  return [...new Set(found.map((word) => word.slice(0, longestWord).toWellFormed()))].slice(0, mostWords);
}

function segments(text: string): readonly string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []));
}
