import type { AnswerPiece, ShownPiece } from './answer-pieces.js';

/**
 * The pieces of an answer that has to fit a schema: its text comes whole, once it is known, and no text of a turn
 * before it; `structured` is the answer as JSON text, null where the run did not end with one.
 */
export async function* withHeldText(
  pieces: AsyncIterable<ShownPiece>,
  structured: () => string | null,
): AsyncGenerator<ShownPiece, void, undefined> {
  let last = '';
  for await (const piece of pieces) {
    if (isText(piece, 'begin')) last = '';
    else if (isText(piece, 'piece')) last += piece.text;
    else {
      const text = structured() ?? last;
      if (piece.type === 'end' && piece.finish !== 'calls' && text !== '') {
        yield { type: 'begin', kind: 'text', again: false };
        yield { type: 'piece', kind: 'text', text };
      }
      yield piece;
    }
  }
}

function isText<T extends 'begin' | 'piece'>(
  piece: { readonly type: string },
  type: T,
): piece is Extract<AnswerPiece, { type: T }> {
  return piece.type === type && (piece as Partial<Extract<AnswerPiece, { type: 'begin' }>>).kind === 'text';
}
