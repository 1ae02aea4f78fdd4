/** A piece to show: the text, and the part of the iteration that it belongs to. */
export interface Piece {
  readonly part: number;
  readonly text: string;
}

/**
 * The texts of one iteration. Where the stream is read again after a cut, the gateway sends each text in one piece
 * from its beginning: what was shown is not shown again, what is new goes on where it ended, and another text is
 * another part.
 */
export class IterationText {
  private readonly parts: string[] = [];
  /** How many of them earlier connections showed. */
  private earlier = 0;
  /** What this connection repeats of a part so far; null where its text is new. */
  private repeated: string | null = null;
  /** Whether new text goes on with the last part. */
  private goesOn = false;

  /** The next connection: what comes may repeat what was shown. */
  connected(): void {
    this.earlier = this.parts.length;
  }

  /** A part of text begins. */
  begin(): void {
    this.repeated = this.earlier === 0 ? null : '';
    this.goesOn = false;
  }

  add(text: string): readonly Piece[] {
    if (this.repeated === null) return this.show(text);
    const again = this.repeated + text;
    if (this.parts.some((part) => part.startsWith(again))) {
      this.repeated = again;
      return [];
    }
    this.repeated = null;
    const last = this.last;
    this.goesOn = again.startsWith(last);
    return this.show(this.goesOn ? again.slice(last.length) : again);
  }

  /** The last text; in the last iteration, the answer. */
  get last(): string {
    return this.parts.at(-1) ?? '';
  }

  private show(text: string): readonly Piece[] {
    if (text === '') return [];
    if (!this.goesOn) this.parts.push('');
    this.goesOn = true;
    const part = this.parts.length - 1;
    this.parts[part] += text;
    return [{ part, text }];
  }
}
