import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { crc32c } from '../../../src/kafka/produce/crc32c.js';

/** Bit by bit, as the polynomial says. */
function bitByBit(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ -1) >>> 0;
}

describe('CRC-32C', () => {
  it('is that of RFC 3720, appendix B.4', () => {
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, byte) => byte)))).toBe(0x46dd794e);
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(0))).toBe(0);
  });

  it('is the same eight bytes at a time, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(crc32c(Buffer.from(bytes))).toBe(bitByBit(bytes));
      }),
      { numRuns: 1_000 },
    );
  });
});
