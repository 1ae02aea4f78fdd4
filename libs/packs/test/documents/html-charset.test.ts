import { describe, expect, it } from '@jest/globals';
import { charsetIn, htmlText } from '../../src/document/html-charset.js';

/** Windows-1252 for the few characters that the tests use. */
const ansi = (text: string): Buffer => Buffer.from(text.replaceAll('–', '\u0096').replaceAll('€', '\u0080'), 'latin1');
const body = '<p>Größe – 100 €</p>';
const swapped = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

describe('the charset of an HTML page', () => {
  it.each<[string, Buffer, string | null]>([
    ['a meta with charset', ansi(`<meta charset="windows-1252">${body}`), null],
    [
      'a meta with a content type',
      ansi(`<meta http-equiv=Content-Type content="text/html; charset=ISO-8859-1">${body}`),
      null,
    ],
    ['a meta far below', ansi(`<head><!-- ${'x'.repeat(9_000)} --><meta charset="windows-1252">${body}`), null],
    ['an XML declaration', ansi(`<?xml version="1.0" encoding="iso-8859-1"?><html>${body}`), null],
    ['the header, whatever the page says', ansi(`<meta charset="utf-8">${body}`), 'windows-1252'],
    ['a byte order mark, whatever the header says', Buffer.from(`\ufeff${body}`), 'windows-1252'],
    ['UTF-16 with a mark', Buffer.from(`\ufeff<meta charset="utf-8">${body}`, 'utf16le'), null],
    ['UTF-16 without a mark', Buffer.from(body, 'utf16le'), null],
    ['UTF-16 of the other order', swapped(body), null],
    ['a meta that says UTF-16 and is read', Buffer.from(`<meta charset="utf-16">${body}`), null],
    ['a header that names nothing known', Buffer.from(body), 'x-unknown'],
    ['no word, in UTF-8', Buffer.from(body), null],
    ['no word, in Windows-1252', ansi(body), null],
    ['a meta in a comment, which is none', ansi(`<!-- <meta charset="utf-8"> -->${body}`), null],
    ['a meta that names nothing known', ansi(`<meta charset="x-none">${body}`), null],
  ])('is found by %s', (_what, bytes, header) => {
    const text = htmlText(bytes, header);
    expect(text).toContain(body);
    expect(text).not.toMatch(/[\0\ufffd]/);
  });

  it('is found in a content type', () => {
    expect(charsetIn('text/html; Charset="Shift_JIS"; x=1')).toBe('Shift_JIS');
    expect(charsetIn('text/html')).toBeNull();
  });
});
