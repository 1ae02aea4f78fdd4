import { describe, expect, it } from '@jest/globals';
import { findType, kindOfType } from '../src/uploads/content-type.js';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const png = latin('\x89PNG\r\n\x1a\n\0\0');
const typeOf = (head: Uint8Array, declared: string | null = null, name: string | null = null): string => {
  const found = findType(head, declared, name);
  return found.ok ? found.type : found.why;
};

describe('the type of a file', () => {
  it.each([
    [png, 'image/png'],
    [latin('\xff\xd8\xff\xe0'), 'image/jpeg'],
    [latin('GIF89a'), 'image/gif'],
    [latin('RIFF\0\0\0\0WEBPVP8 '), 'image/webp'],
    [latin('%PDF-1.7\n'), 'application/pdf'],
    [latin('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
    [latin('ID3\x04'), 'audio/mpeg'],
    [latin('OggS'), 'audio/ogg'],
    [latin('fLaC'), 'audio/flac'],
  ])('is what its first bytes say, whatever it is declared to be: %#', (head, type) => {
    expect(typeOf(head)).toBe(type);
    expect(typeOf(head, 'text/html', 'page.html')).toBe(type);
    expect(typeOf(head, 'image/jpeg', 'a.jpg')).toBe(type);
  });

  it.each([
    ['image/png', '<svg onload="alert(1)"/>', /^says image\/png, and is no PNG, JPEG, GIF or WebP image/],
    ['image/heic', '\0\0\0\x18ftypheic', /^says image\/heic/],
    ['audio/mpeg', 'nothing', /^says audio\/mpeg/],
    ['application/pdf', '<html>', /^says application\/pdf, and is no PDF/],
  ])('is refused where it says %s and is none', (declared, text, why) => {
    expect(typeOf(latin(text), declared)).toMatch(why);
    const ending = { 'image/png': 'PNG', 'audio/mpeg': 'mp3', 'application/pdf': 'pdf' }[declared];
    if (ending !== undefined) expect(typeOf(latin(text), null, `a.${ending}`)).toMatch(why);
  });

  it.each([
    ['a,b\n1,2', null, 'table.CSV', 'text/csv'],
    ['{"a":1}', 'application/json; charset=utf-8', null, 'application/json'],
    ['Grüezi €', null, null, 'text/plain'],
    ['# T', null, 'README.md', 'text/markdown'],
    ['<svg/>', null, 'a.svg', 'image/svg+xml'],
    ['<svg/>', 'IMAGE/SVG+XML', null, 'image/svg+xml'],
    ['<p>x', 'text/html', null, 'text/html'],
    ['x', 'no type', 'x.constructor', 'text/plain'],
  ])('of text %j is what its sender or its name says', (text, declared, name, type) => {
    expect(typeOf(Buffer.from(text), declared, name)).toBe(type);
    expect(kindOfType(type)).toBe('file');
  });

  it('is bytes where it says that it is text and is none', () => {
    expect(typeOf(latin('a\0b'), 'text/plain', 'a.txt')).toBe('application/octet-stream');
    expect(typeOf(latin('\xff\x80'), 'application/json')).toBe('application/octet-stream');
    expect(typeOf(latin('PK\x03\x04'), 'application/zip')).toBe('application/zip');
    expect(typeOf(latin('a\0b'), null, 'a.docx')).toBe('application/octet-stream');
    expect(typeOf(latin('PK\x03\x04\0'), null, 'a.docx')).toMatch(/wordprocessingml/);
  });

  it('of text is found where a character is cut at the end of what is looked at', () => {
    expect(typeOf(Buffer.from('€'.repeat(10)).subarray(0, 29))).toBe('text/plain');
  });

  it('says what a file is for a model', () => {
    expect(['image/png', 'audio/wav', 'application/pdf', 'image/svg+xml'].map(kindOfType)).toEqual([
      ...['image', 'audio', 'file', 'file'],
    ]);
  });
});
