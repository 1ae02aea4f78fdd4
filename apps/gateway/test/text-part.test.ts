import { describe, expect, it } from '@jest/globals';
import type { AssistantStreamChunk } from 'assistant-stream';
import { TextPart } from '../src/stream/text-part.js';

/** The texts of the parts that a reader has in the end; pieces are written `attempt:sequence:text`. */
function shown(pieces: readonly string[], whole: string): readonly string[] {
  let parts = 0;
  const text = new TextPart(() => parts++);
  const read = (piece: string): readonly AssistantStreamChunk[] => {
    const [attempt = '', sequence = '', said = ''] = piece.split(':');
    return text.piece({ attempt, sequence: Number(sequence), text: said });
  };
  const chunks = [...pieces.flatMap((piece) => [...read(piece)]), ...text.complete(whole), ...text.close()];
  return Array.from({ length: parts }, (_, part) =>
    chunks
      .flatMap((chunk) => (chunk.type === 'text-delta' && chunk.path[0] === part ? [chunk.textDelta] : []))
      .join(''),
  );
}

describe('the text of an iteration', () => {
  it.each([
    ['comes once', ['a:0:To', 'a:1:kyo'], ['Tokyo.']],
    ['comes twice', ['a:0:To', 'a:0:To', 'a:1:kyo', 'a:0:To'], ['Tokyo.']],
    ['loses a piece', ['a:0:T', 'a:2:yo', 'a:3:.'], ['Tokyo.']],
    ['starts over and repeats itself', ['a:0:Tok', 'b:0:T', 'b:1:oky', 'b:2:o'], ['Tokyo.']],
    ['starts over while the former reply still comes', ['a:0:Tok', 'b:0:To', 'a:1:elau', 'b:1:kyo'], ['Tokyo.']],
    ['starts over and says less', ['a:0:Tokyo', 'b:0:To'], ['Tokyo.']],
    ['starts over and says something else', ['a:0:It is Kyo', 'b:0:To', 'b:1:kyo'], ['It is Kyo', 'Tokyo.']],
    ['is of a service that numbers nothing', [':0:To', ':0:kyo'], ['Tokyo.']],
  ])('is whole and not garbled where it %s', (_, pieces, parts) => {
    expect(shown(pieces, 'Tokyo.')).toEqual(parts);
  });
});
