import type { AssistantStreamChunk } from 'assistant-stream';

type Kind = 'text' | 'reasoning';

/**
 * The text of an iteration. Pieces of it come as they happen, and some may be lost or come twice; the record that ends the turn has it
 * whole. What is missing at the end is added; where the pieces were other than the whole, the whole follows in a part of its own.
 */
export class TextPart {
  #open: { readonly kind: Kind; readonly part: number } | null = null;
  #said = '';

  constructor(private readonly nextPart: () => number) {}

  add(kind: Kind, text: string): readonly AssistantStreamChunk[] {
    if (text === '') return [];
    const chunks: AssistantStreamChunk[] = [];
    if (this.#open?.kind !== kind) {
      chunks.push(...this.#finish(), { type: 'part-start', path: [], part: { type: kind } });
      this.#open = { kind, part: this.nextPart() };
    }
    if (kind === 'text') this.#said += text;
    return [...chunks, { type: 'text-delta', path: [this.#open.part], textDelta: text }];
  }

  /** What the iteration’s text was in the end. */
  complete(whole: string): readonly AssistantStreamChunk[] {
    if (whole.startsWith(this.#said)) return this.add('text', whole.slice(this.#said.length));
    return [...this.close(), ...this.add('text', whole)];
  }

  /** The iteration’s text is over. */
  close(): readonly AssistantStreamChunk[] {
    this.#said = '';
    return this.#finish();
  }

  #finish(): readonly AssistantStreamChunk[] {
    const open = this.#open;
    this.#open = null;
    return open === null ? [] : [{ type: 'part-finish', path: [open.part] }];
  }
}
