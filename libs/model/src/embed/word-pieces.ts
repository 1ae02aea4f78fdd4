import { isJsonObject } from '@sluice/core';

/** Characters of a word beyond which it is unknown, as BERT’s own tokenizer has it. */
const longestWord = 100;

/** The tokenizer of BERT models without case: words are split into the longest pieces that the vocabulary has. */
export class WordPieces {
  private constructor(private readonly ids: ReadonlyMap<string, number>) {}

  /** Reads a `tokenizer.json`, or a `vocab.txt` with a piece a line. Throws an Error that says what is missing. */
  static read(text: string): WordPieces {
    const ids = text.trimStart().startsWith('{')
      ? new Map(Object.entries(vocabularyOf(JSON.parse(text))))
      : new Map(text.split(/\r?\n/).flatMap((piece, at) => (piece === '' ? [] : [[piece, at] as const])));
    for (const needed of ['[CLS]', '[SEP]', '[UNK]'])
      if (!ids.has(needed)) throw new Error(`The vocabulary has no ${needed}: it is not of a BERT model.`);
    return new WordPieces(ids);
  }

  /** The ids of a text’s pieces, between the marks of its beginning and its end; no more than the limit. */
  encode(text: string, limit: number): readonly number[] {
    const pieces: number[] = [];
    for (const word of wordsOf(text)) {
      if (pieces.length >= limit - 2) break;
      pieces.push(...this.piecesOf(word));
    }
    return [this.id('[CLS]'), ...pieces.slice(0, limit - 2), this.id('[SEP]')];
  }

  private piecesOf(word: string): readonly number[] {
    const letters = [...word];
    if (letters.length > longestWord) return [this.id('[UNK]')];
    const found: number[] = [];
    for (let start = 0; start < letters.length;) {
      let end = letters.length;
      let id: number | undefined;
      for (; end > start; end--) {
        id = this.ids.get((start > 0 ? '##' : '') + letters.slice(start, end).join(''));
        if (id !== undefined) break;
      }
      if (id === undefined) return [this.id('[UNK]')];
      found.push(id);
      start = end;
    }
    return found;
  }

  private id(piece: string): number {
    return this.ids.get(piece) ?? 0;
  }
}

/** Lower case without accents, split at white space, around punctuation and around ideographs. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .replace(/\p{Cc}/gu, ' ');
  return plain.match(/[\p{P}\p{S}]|\p{Script=Han}|[^\s\p{P}\p{S}\p{Script=Han}]+/gu) ?? [];
}

function vocabularyOf(value: unknown): Record<string, number> {
  const model = isJsonObject(value) ? value['model'] : undefined;
  const vocabulary = isJsonObject(model) ? model['vocab'] : undefined;
  if (isJsonObject(vocabulary)) return vocabulary as Record<string, number>;
  throw new Error('The tokenizer has no vocabulary under model.vocab.');
}
