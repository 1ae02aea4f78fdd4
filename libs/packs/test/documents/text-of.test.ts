import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../src/index.js';
import { samples } from './in-documents.js';
import { docxOf, pdfOf } from './made.js';

const going = new AbortController().signal;
const read = (bytes: Uint8Array, type: string, name: string | null = null, characters = 1_000_000) =>
  textOf({ bytes, type, name }, { characters }, going);

describe('the text of a file', () => {
  it.each([
    ['text/plain', 'Grüezi'],
    ['text/csv', 'a;b\n1;2\n'],
    ['application/json', '{"a": [1]}'],
    ['text/markdown', '# One\n\n- two'],
  ])('is as it was sent for %s, with all that it has', async (type, text) => {
    expect(await read(Buffer.from(text), type)).toEqual({
      ...{ ok: true, text, characters: text.length, pages: null, notes: [] },
    });
  });

  it('is what stands in a PDF, a DOCX and a page, by their bytes', async () => {
    const pdf = readFileSync(join(samples, 'rechnungsarchiv.pdf'));
    expect(await read(pdf, 'application/pdf')).toMatchObject({
      ok: true,
      pages: 2,
      text: expect.stringMatching(/^Rechnungsarchiv/),
    });
    const word = docxOf(Buffer.from('<w:p><w:r><w:t>Five tables</w:t></w:r></w:p>'));
    const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    for (const name of [null, 'Tables', 'tables.docx'])
      expect(await read(word, type, name)).toMatchObject({ ok: true, text: 'Five tables' });
    const page = Buffer.from('<html><script>alert(1)</script><p>Hello</p></html>');
    expect(await read(page, 'text/html')).toMatchObject({ ok: true, text: 'Hello' });
  });

  it('is not looked for in a file that is larger than documents are', async () => {
    expect(await read(Buffer.alloc(20_971_521, 'x'), 'text/plain')).toEqual({
      ...{ ok: false, why: 'The file has 20971521 bytes, and 20971520 are the most that are read. Divide it.' },
    });
  });

  it('says how long the whole is where it is cut', async () => {
    expect(await read(Buffer.from('x'.repeat(100)), 'text/plain', 'a.txt', 10)).toMatchObject({
      ...{ ok: true, text: 'x'.repeat(10), characters: 100 },
    });
  });

  it.each([
    ['bytes of no format', Buffer.from([0, 1, 2, 3]), 'text/plain', /is not a PDF, DOCX, HTML or text document/],
    ['what only says that it is a PDF', Buffer.from('hello'), 'application/pdf', /is named \.pdf and is none/],
    ['a broken PDF', Buffer.from('%PDF-1.7\nnothing'), 'application/pdf', /^The document cannot be read as PDF/],
    ['a PDF of pictures', pdfOf(Buffer.from('0 0 10 10 re f')), 'application/pdf', /its pages are pictures/],
    ['an empty file', Buffer.from(' \n'), 'text/plain', /^The file has no text\.$/],
  ])('is a reason for %s', async (_what, bytes, type, why) => {
    expect(await read(bytes, type)).toEqual({ ok: false, why: expect.stringMatching(why) });
  });
});
