import type { DocumentFormat } from './document.js';
import { ToolUserError } from '@sluice/core';

/** Documents by what they begin with, which would be read as text with all their marks, or as nothing. */
const others: readonly (readonly [RegExp, string])[] = [
  [/^\s*\{\\rtf/, 'an RTF document'],
  [/^%!PS/, 'a PostScript document'],
  [/^\u00d0\u00cf.\u00e0\u00a1\u00b1/, 'a document of Word, Excel or PowerPoint before 2007'],
  [/^(?:[\w-]+:.*\r?\n)*MIME-Version:[^]*multipart\/related/i, 'a web archive (MHTML)'],
  [
    /^\s*<\?xml[^]*<(?:w:wordDocument|office:document|pkg:package)\b/,
    'a document of an office program as one XML file',
  ],
];

/** By the first bytes, which cannot be misnamed; where they say nothing, by the ending of the name. */
export function formatOf(path: string, bytes: Uint8Array): DocumentFormat {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024)).toString('latin1');
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (head.includes('%PDF-')) return 'pdf';
  const other = others.find(([begins]) => begins.test(head))?.[1];
  if (other !== undefined)
    throw new ToolUserError(`“${path}” is ${other}, which is not read. Save it as PDF, DOCX, HTML or text.`);
  if (head.startsWith('PK\u0003\u0004')) {
    if (ending !== 'docx') throw unknown(path);
    return 'docx';
  }
  if (ending === 'pdf' || ending === 'docx') {
    throw new ToolUserError(`The document “${path}” is named .${ending} and is none. Give a sound file of that kind.`);
  }
  if (
    ['html', 'htm', 'xhtml'].includes(ending) ||
    /^\s*(?:<!doctype html|<html)/i.test(head.replace(/^(?:\u00ff\u00fe|\u00fe\u00ff|\u00ef\u00bb\u00bf)|\0/g, ''))
  )
    return 'html';
  const isUtf16 = /^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(head);
  if (!isUtf16 && [...head].some((each) => each < '\t' || (each > '\r' && each < '\u001b'))) throw unknown(path);
  return 'text';
}

function unknown(path: string): ToolUserError {
  return new ToolUserError(`“${path}” is not a PDF, DOCX, HTML or text document. Convert it to one of these.`);
}
