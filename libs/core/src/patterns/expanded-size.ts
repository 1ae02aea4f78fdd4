/**
 * How many parts a pattern of RE2 has once its counted repetitions are written out: `(ab){1000}` has 2,000. An engine
 * writes them out when it compiles, so this is asked first. The count is not exact; it is never less than a tenth of
 * the compiled program.
 */
export function expandedSize(pattern: string): number {
  return new Counter(pattern).alternatives();
}

const repetition = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
const braces = /\{[^}]*\}/y;
const opening = /\?(?:P?<[^>]*>|[a-zA-Z-]*:?)/y;
const bracket = /\[\^?\]?(?:\[:\^?\w+:\]|\\[pP]\{[^}]*\}|\\[^]|[^\]\\])*\]?/y;

class Counter {
  private at = 0;

  constructor(private readonly pattern: string) {}

  /** Up to the end, or to the bracket that closes a group. */
  alternatives(): number {
    let size = 0;
    while (this.at < this.pattern.length && this.pattern[this.at] !== ')') size += this.repeated(this.atom());
    this.at += 1;
    return size;
  }

  private atom(): number {
    const first = this.pattern[this.at];
    if (first === '(') {
      this.at += 1;
      this.take(opening);
      return this.alternatives() + 2;
    }
    if (first === '[') {
      this.take(bracket);
      return 1;
    }
    this.at += 1;
    return first === '\\' ? this.escaped() : 1;
  }

  private escaped(): number {
    const letter = this.pattern[this.at] ?? '';
    this.at += 1;
    if (letter === 'Q') {
      const end = this.pattern.indexOf('\\E', this.at);
      const length = (end === -1 ? this.pattern.length : end) - this.at;
      this.at += length + 2;
      return length;
    }
    if (/[pPx]/.test(letter)) this.take(braces);
    return 1;
  }

  private repeated(size: number): number {
    let all = size;
    for (;;) {
      const found = this.take(repetition);
      if (found !== null) {
        const [, least = '0', isRange, most] = found;
        // `{3,}` is three and a loop.
        all *= Math.max(1, isRange === undefined ? Number(least) : most === '' ? Number(least) + 1 : Number(most));
      } else if (/[*+?]/.test(this.pattern[this.at] ?? '')) {
        this.at += 1;
        all += 1;
      } else return all;
    }
  }

  private take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.at;
    const found = form.exec(this.pattern);
    if (found !== null) this.at = form.lastIndex;
    return found;
  }
}
