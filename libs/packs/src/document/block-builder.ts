import type { Block, ParsedDocument } from './document.js';

/** Puts a document’s text together, block by block. Throws where it becomes longer than `most` characters. */
export class BlockBuilder {
  private readonly parts: string[] = [];
  private readonly blocks: Block[] = [];
  private length = 0;

  constructor(private readonly most: number) {}

  add(text: string, block: Omit<Block, 'start' | 'end'>): void {
    const said = text.toWellFormed().trim();
    if (said === '') return;
    if (this.length > 0) this.push('\n\n');
    const start = this.length;
    this.push(said);
    this.blocks.push({ ...block, start, end: this.length });
  }

  build(pages: number | null, notes: readonly string[] = []): ParsedDocument {
    return { text: this.parts.join(''), blocks: this.blocks, pages, notes };
  }

  private push(text: string): void {
    this.length += text.length;
    if (this.length > this.most) throw new Error(`its text is longer than ${this.most} characters`);
    this.parts.push(text);
  }
}
