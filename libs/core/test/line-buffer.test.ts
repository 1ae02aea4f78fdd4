import { describe, expect, it, jest } from '@jest/globals';
import { LineBuffer } from '../src/line-buffer.js';

const linesOf = (...pieces: (string | Buffer)[]): string[] => {
  const buffer = new LineBuffer(10_485_760);
  return pieces.flatMap((piece) => [...buffer.add(Buffer.from(piece))]);
};

describe('the lines of a stream', () => {
  it('are whole, however they were cut, also within a character', () => {
    const bytes = Buffer.from('{"a":"ü"}\n{}\n\nrest');
    for (let cut = 0; cut <= bytes.length; cut++)
      expect(linesOf(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['{"a":"ü"}', '{}', '']);
    expect(linesOf(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(['{"a":"ü"}', '{}', '']);
  });

  it('are no larger than a message may be, and put together once', () => {
    const piece = 'x'.repeat(1_024);
    const buffer = new LineBuffer(10_485_760);
    const putTogether = jest.spyOn(Buffer, 'concat');
    let early = 0;
    for (let at = 0; at < 10_240; at++) early += [...buffer.add(Buffer.from(piece))].length;
    expect(early).toBe(0);
    expect(putTogether).not.toHaveBeenCalled();
    expect([...buffer.add(Buffer.from('\n'))][0]).toHaveLength(10_485_760);
    expect(putTogether).toHaveBeenCalledTimes(1);
    putTogether.mockRestore();
    expect(() => linesOf(...Array.from({ length: 10_241 }, () => piece))).toThrow(/larger than 10485760 bytes/);
  });
});
