import type { DocumentFormat } from './document.js';
import { ToolUserError } from '@sluice/core';

/** By the first bytes, which cannot be misnamed; where they say nothing, by the ending of the name. */
export function formatOf(path: string, bytes: Uint8Array): DocumentFormat {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024)).toString('latin1');
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (head.includes('%PDF-')) return 'pdf';
  if (head.startsWith('PK\u0003\u0004')) {
    if (ending !== 'docx') throw unknown(path);
    return 'docx';
  }
  if (ending === 'pdf' || ending === 'docx') {
    throw new ToolUserError(`The document “${path}” is named .${ending} and is none. Give a sound file of that kind.`);
  }
  if (['html', 'htm', 'xhtml'].includes(ending) || /^\s*(?:<!doctype html|<html)/i.test(head)) return 'html';
  const isUtf16 = /^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(head);
  if (!isUtf16 && [...head].some((each) => each < '\t' || (each > '\r' && each < '\u001b'))) throw unknown(path);
  return 'text';
}

function unknown(path: string): ToolUserError {
  return new ToolUserError(`“${path}” is not a PDF, DOCX, HTML or text document. Convert it to one of these.`);
}
