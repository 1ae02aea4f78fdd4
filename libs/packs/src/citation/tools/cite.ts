import { ToolUserError } from '@sluice/core';
import type { Citation, Citations, NewSource } from '../citations.js';
import { findQuote } from '../quote.js';
import { passageAt } from '../../document/document.js';
import type { ReadDocument } from '../../document/document.js';

/** Records a quote that stands in the document. Throws ToolUserError if it does not. */
export async function citeIn(
  document: ReadDocument,
  kind: NewSource['kind'],
  asked: { readonly quote: string; readonly claim: string; readonly occurrence: number },
  citations: Citations,
): Promise<Citation> {
  const found = findQuote(document.text, asked.quote, asked.occurrence);
  if (found === null) {
    const often = findQuote(document.text, asked.quote)?.occurrences ?? 0;
    throw new ToolUserError(
      often > 0
        ? `The quote stands there ${often} times. Give an occurrence from 1 to ${often}.`
        : 'The quote does not stand in the source. Quote it word by word, within one passage, as the extracted text has it.',
    );
  }
  const { path: location, sha256, text } = document;
  const { start, end, match } = found;
  const citation = { quote: text.slice(start, end), place: passageAt(document, start, end), match, claim: asked.claim };
  return citations.cite({ kind, location, sha256 }, citation);
}
