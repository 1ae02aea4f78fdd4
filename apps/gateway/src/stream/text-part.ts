import type { AssistantStreamChunk } from 'assistant-stream';

type Kind = 'text' | 'reasoning';

/** A piece of text as it came: its place among the pieces of one reply of the model. */
interface Piece {
  readonly text: string;
  /** Empty where a service of an earlier version wrote it, which numbers nothing. */
  readonly attempt: string;
  readonly sequence: number;
}

/**
 * The text of an iteration. Pieces of it come as they happen, and some may be lost or come twice; the record that
 * ends the turn has it whole. What is missing at the end is added; where the pieces were other than the whole, the
 * whole follows in a part of its own.
 *
 * Where the model is asked again, its new reply starts over: what it repeats is not sent twice, and where it says
 * something else a part of its own begins.
 */
export class TextPart {
  private open: { readonly kind: Kind; readonly part: number } | null = null;
  private said = '';
  /** The reply whose pieces are sent, and the number of its next piece; null behind a piece that was lost. */
  private attempt = '';
  private next: number | null = 0;
  /** What a reply repeats of `#said` so far; null where it does not repeat. */
  private repeated: string | null = null;
  private readonly former = new Set<string>();

  constructor(private readonly nextPart: () => number) {}

  /** A piece that came while the turn goes on. */
  piece({ text, attempt, sequence }: Piece): readonly AssistantStreamChunk[] {
    if (attempt === '') return this.add('text', text);
    if (attempt !== this.attempt) {
      if (this.former.has(attempt)) return [];
      this.former.add(attempt);
      this.attempt = attempt;
      this.next = 0;
      this.repeated = this.said === '' ? null : '';
    }
    // Behind a gap the text would not be what the model said: the record of the turn brings the rest.
    if (sequence !== this.next) {
      if (this.next !== null && sequence > this.next) this.next = null;
      return [];
    }
    this.next++;
    return this.repeated === null ? this.add('text', text) : this.repeat(this.repeated + text);
  }

  add(kind: Kind, text: string): readonly AssistantStreamChunk[] {
    if (text === '') return [];
    const chunks: AssistantStreamChunk[] = [];
    if (this.open?.kind !== kind) {
      chunks.push(...this.finish(), { type: 'part-start', path: [], part: { type: kind } });
      this.open = { kind, part: this.nextPart() };
    }
    if (kind === 'text') this.said += text;
    return [...chunks, { type: 'text-delta', path: [this.open.part], textDelta: text }];
  }

  /** What the iteration’s text was in the end. */
  complete(whole: string): readonly AssistantStreamChunk[] {
    if (whole.startsWith(this.said)) return this.add('text', whole.slice(this.said.length));
    return [...this.close(), ...this.add('text', whole)];
  }

  /** The iteration’s text is over. */
  close(): readonly AssistantStreamChunk[] {
    this.said = '';
    this.repeated = null;
    return this.finish();
  }

  /** Of a reply that starts over: nothing while it repeats what was sent, then what is new. */
  private repeat(again: string): readonly AssistantStreamChunk[] {
    if (this.said.startsWith(again)) {
      this.repeated = again;
      return [];
    }
    this.repeated = null;
    if (again.startsWith(this.said)) return this.add('text', again.slice(this.said.length));
    return [...this.close(), ...this.add('text', again)];
  }

  private finish(): readonly AssistantStreamChunk[] {
    const open = this.open;
    this.open = null;
    return open === null ? [] : [{ type: 'part-finish', path: [open.part] }];
  }
}
