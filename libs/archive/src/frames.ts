import { longestEntry } from './format.js';

/** Takes pieces as they come and gives whole parts back: first a line, then entries with their lengths before them. */
export class Frames {
  private held: Buffer = Buffer.alloc(0);
  private at = 0;

  add(piece: Buffer): void {
    const left = this.held.subarray(this.at);
    this.held = left.length === 0 ? piece : Buffer.concat([left, piece]);
    this.at = 0;
  }

  /** Undefined while it is not whole. */
  line(): string | undefined {
    const end = this.held.indexOf(0x0a, this.at);
    if (end < 0) return undefined;
    const text = this.held.toString('utf8', this.at, end);
    this.at = end + 1;
    return text;
  }

  /** The next entry’s bytes, in use until more is added; undefined while it is not whole. */
  next(): Buffer | undefined {
    if (this.held.length - this.at < 4) return undefined;
    const length = this.held.readUInt32BE(this.at);
    if (length > longestEntry) throw new Error(`The export has an entry of ${length} bytes, which no export has.`);
    const end = this.at + 4 + length;
    if (end > this.held.length) return undefined;
    const bytes = this.held.subarray(this.at + 4, end);
    this.at = end;
    return bytes;
  }
}
