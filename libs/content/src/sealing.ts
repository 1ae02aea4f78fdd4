import { createCipheriv, createDecipheriv } from 'node:crypto';

/**
 * Content is sealed in segments (AES-256-GCM), so that neither side holds more than one. A segment's nonce is its
 * number and whether it is the last, so none can be left out, moved or put behind the end; the last one also vouches
 * for what the content is said to be.
 */
const segmentBytes = 65_536;
const tagBytes = 16;

export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';
}

/** Seals pieces as they come. */
export class Sealer {
  private readonly pending = new Pending();
  private number = 0;

  constructor(private readonly key: Buffer) {}

  /** What of the pieces so far can be written. */
  *push(bytes: Uint8Array): Iterable<Buffer> {
    this.pending.add(bytes);
    // The last segment waits for the end, also where it is full.
    while (this.pending.length > segmentBytes) yield this.seal(this.pending.take(segmentBytes), null);
  }

  end(about: string): Buffer {
    return this.seal(this.pending.take(this.pending.length), about);
  }

  private seal(plain: Buffer, about: string | null): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.key, nonceOf(this.number++, about !== null));
    if (about !== null) cipher.setAAD(Buffer.from(about));
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }
}

/** The plain pieces; throws SealBrokenError at the first that is not what was sealed. */
export async function* unsealed(
  sealed: AsyncIterable<Uint8Array>,
  key: Buffer,
  about: string,
): AsyncIterable<Uint8Array> {
  const pending = new Pending();
  const whole = segmentBytes + tagBytes;
  let number = 0;
  for await (const bytes of sealed) {
    pending.add(bytes);
    while (pending.length > whole) yield opened(pending.take(whole), key, number++, null);
  }
  yield opened(pending.take(pending.length), key, number, about);
}

function opened(segment: Buffer, key: Buffer, number: number, about: string | null): Buffer {
  if (segment.length < tagBytes) throw new SealBrokenError('A segment is cut off.');
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, about !== null), { authTagLength: tagBytes });
  if (about !== null) decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(segment.subarray(segment.length - tagBytes));
  try {
    return Buffer.concat([decipher.update(segment.subarray(0, segment.length - tagBytes)), decipher.final()]);
  } catch (error) {
    throw new SealBrokenError('A segment is not the one that was sealed.', { cause: error });
  }
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

/** Bytes that came and were not taken yet. */
class Pending {
  private pieces: Uint8Array[] = [];
  length = 0;

  add(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.length += bytes.length;
  }

  take(bytes: number): Buffer {
    const all = this.pieces.length === 1 ? Buffer.from(this.pieces[0] as Uint8Array) : Buffer.concat(this.pieces);
    const rest = all.subarray(bytes);
    this.pieces = rest.length === 0 ? [] : [rest];
    this.length = rest.length;
    return all.subarray(0, bytes);
  }
}
