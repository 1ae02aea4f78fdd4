/**
 * Bytes that are kept until they are whole. What comes is copied once, however many pieces a long event comes in;
 * what was handed out is never written over.
 */
export class HeldBytes {
  private buffer = Buffer.alloc(0);
  private start = 0;
  private end = 0;

  get length(): number {
    return this.end - this.start;
  }

  /** All that is held, with the bytes that have come. */
  with(bytes: Uint8Array): Buffer {
    if (this.end + bytes.length > this.buffer.length) {
      const held = this.buffer.subarray(this.start, this.end);
      const isFirst = held.length === 0;
      this.buffer = Buffer.allocUnsafeSlow(isFirst ? bytes.length : 2 * (held.length + bytes.length));
      held.copy(this.buffer);
      this.start = 0;
      this.end = held.length;
    }
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
    return this.buffer.subarray(this.start, this.end);
  }

  /** The first so many are not needed any more. */
  drop(length: number): void {
    this.start += length;
  }
}
