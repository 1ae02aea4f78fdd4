const newLine = 0x0a;

/**
 * Puts a stream's pieces together to lines. In place of the SDK's own, whose cost grows with the square of a line's
 * length.
 */
export class LineBuffer {
  private pieces: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly limit: number) {}

  /** The lines that end in this piece, without their ends. Throws once a line is larger than a message may be. */
  *add(piece: Buffer): Generator<string> {
    let start = 0;
    for (let end = piece.indexOf(newLine); end !== -1; end = piece.indexOf(newLine, start)) {
      const line = this.lineWith(piece, start, end);
      start = end + 1;
      yield line;
    }
    if (start < piece.length) this.keep(piece.subarray(start));
  }

  /** Most lines come in one piece, which is read where it is. */
  private lineWith(piece: Buffer, start: number, end: number): string {
    if (this.pieces.length === 0 && end - start <= this.limit) return piece.toString('utf8', start, end);
    this.keep(piece.subarray(start, end));
    const line = Buffer.concat(this.pieces);
    this.clear();
    return line.toString('utf8');
  }

  clear(): void {
    this.pieces = [];
    this.bytes = 0;
  }

  private keep(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.limit) {
      this.clear();
      throw new Error(`A message is larger than ${this.limit} bytes.`);
    }
    this.pieces.push(part);
  }
}
