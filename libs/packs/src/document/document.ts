export type DocumentFormat = 'pdf' | 'docx' | 'html' | 'text';

/** A part of a document’s text: from `start` up to, and without, `end`. */
export interface Block {
  readonly kind: 'heading' | 'paragraph' | 'item' | 'row';
  readonly start: number;
  readonly end: number;
  /** 1 to 6, of a heading. */
  readonly level?: number;
  /** From 1, where the format has pages. */
  readonly page?: number;
}

/** What a parser makes of a file. */
export interface ParsedDocument {
  readonly text: string;
  /** In the order of the text; between two of them is white space only. */
  readonly blocks: readonly Block[];
  /** Null where the format has none. */
  readonly pages: number | null;
  /** Sentences about what the document holds and the text does not. */
  readonly notes: readonly string[];
}

export interface ReadDocument extends ParsedDocument {
  /** As it was asked for. */
  readonly path: string;
  readonly format: DocumentFormat;
  /** Of the file’s bytes. */
  readonly sha256: string;
}

/** Where a passage stands. Offsets count UTF-16 code units of the document’s text. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  readonly page?: number;
  /** The headings above it, outermost first. */
  readonly section?: string;
}

/**
 * The documents of a session: the files of its workspace and of the shared folder. Throws ToolUserError for what is
 * not there or cannot be parsed within the limits, and ToolUnavailableError where the folder cannot be used.
 */
export interface DocumentReader {
  read(path: string, signal: AbortSignal): Promise<ReadDocument>;
}

export const documentLimits = {
  fileBytes: 20_971_520,
  textCharacters: 2_000_000,
  pages: 5_000,
  parseMs: 25_000,
} as const;

/** The place of the text from `start` up to `end`. */
export function passageAt({ blocks, text }: ParsedDocument, start: number, end: number): Passage {
  const above: { readonly level: number; readonly title: string }[] = [];
  let page: number | undefined;
  for (const block of blocks) {
    if (block.start > start) break;
    page = block.page ?? page;
    if (block.kind !== 'heading' || block.end > start) continue;
    const level = block.level ?? 1;
    while ((above.at(-1)?.level ?? 0) >= level) above.pop();
    above.push({ level, title: text.slice(block.start, block.end).trim() });
  }
  const section = above.map(({ title }) => title).join(' > ');
  return {
    start,
    end,
    ...(page === undefined ? {} : { page }),
    ...(section === '' ? {} : { section: section.slice(0, 300) }),
  };
}
