import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ToolUserError } from '@sluice/core';
import { inDocuments, samples } from './in-documents.js';
import { docxOf, pdfOf } from './made.js';

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-documents-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('extract_document_text (D-T16)', () => {
  it('gives the text of a DOCX by its structure, with format, hash and size', () =>
    inDocuments(async ({ run }) => {
      const found = await run('extract_document_text', { path: 'invoice-archive.docx' });
      expect(found).toMatchObject({ format: 'docx', offset: 0, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect(found).not.toHaveProperty('next_offset');
      expect(String(found['text']).split('\n\n').slice(0, 4)).toEqual([
        'Invoice archive',
        expect.stringMatching(/^This document describes/),
        'Retention',
        'The system must retain all invoice records for at least 10 years. After that time, an administrator may delete them.',
      ]);
      expect(found['text']).toContain('Availability | 99.5 %');
    }));

  it('gives the text of a PDF with its pages', () =>
    inDocuments(async ({ run }) => {
      const found = await run('extract_document_text', { path: 'rechnungsarchiv.pdf' });
      expect(found).toMatchObject({ format: 'pdf', pages: 2, page: 1 });
      expect(found['text']).toMatch(/^Rechnungsarchiv\n\nAufbewahrung\n\nDas System muss alle Rechnungen zehn Jahre/);
      const offset = String(found['text']).indexOf('Ein Betriebsprüfer');
      expect(await run('extract_document_text', { path: 'rechnungsarchiv.pdf', offset })).toMatchObject({
        page: 2,
        section: 'Rechnungsarchiv > Zugriff',
      });
    }));

  it('gives what a reader of an HTML page sees, and no more', () =>
    inDocuments(async ({ run }) => {
      const { text, format } = await run('extract_document_text', { path: 'visitor-desk.html' });
      expect(format).toBe('html');
      expect(text).toMatch(/A visitor must show a badge & sign\.\n\nBadges/);
      expect(text).toMatch(/Badge \| Colour\n\nGuest \| Green$/);
      expect(text).not.toMatch(/from scripts|color|must not be read/);
    }));

  it('gives a text file as it is, in parts that together are the whole', () =>
    inDocuments(async ({ run, workspace }) => {
      const whole = `${'“Zürich” 🏔 \n'.repeat(3_000)}end`;
      await workspace.write('long.txt', whole);
      let text = '';
      for (let offset: number | undefined = 0; offset !== undefined;) {
        const part: Record<string, unknown> = await run('extract_document_text', { path: 'long.txt', offset });
        expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(32_768);
        text += String(part['text']);
        offset = part['next_offset'] as number | undefined;
      }
      expect(text).toBe(whole);
    }));

  it('reads Windows-1252 and UTF-16', () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'a.txt'), Buffer.from('Zürich, für', 'latin1'));
      writeFileSync(join(folder, 'b.txt'), Buffer.from('\ufeffZürich', 'utf16le'));
      await inDocuments(async ({ run }) => {
        expect(await run('extract_document_text', { path: 'a.txt' })).toMatchObject({ text: 'Zürich, für' });
        expect(await run('extract_document_text', { path: 'b.txt' })).toMatchObject({ text: 'Zürich' });
      }, folder);
    }));

  it('reads an HTML page of another charset than UTF-8', () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'a.html'), Buffer.from('<p>Größe</p>', 'latin1'));
      writeFileSync(join(folder, 'no-ending'), Buffer.from('\ufeff<html><p>Größe</p>', 'utf16le'));
      await inDocuments(async ({ run }) => {
        for (const path of ['a.html', 'no-ending'])
          expect(await run('extract_document_text', { path })).toMatchObject({ format: 'html', text: 'Größe' });
      }, folder);
    }));

  it('notes headers, footers, equations and comments of a DOCX, which are not part of its text', () =>
    inFolder(async (folder) => {
      const run = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
      const body = `${run('The rule.')}<w:p><m:oMath><m:r><m:t>E=mc2</m:t></m:r></m:oMath></w:p>`;
      const more = {
        'word/header1.xml': Buffer.from(`<w:hdr>${run('Draft &amp; secret')}</w:hdr>`),
        'word/footer2.xml': Buffer.from(`<w:ftr>${run('')}</w:ftr>`),
        'word/comments.xml': Buffer.from(`<w:comments><w:comment>${run('Why?')}</w:comment></w:comments>`),
      };
      writeFileSync(join(folder, 'a.docx'), docxOf(Buffer.from(body), more));
      await inDocuments(async ({ run: call }) => {
        const found = await call('extract_document_text', { path: 'a.docx' });
        expect(found).toMatchObject({ text: 'The rule.' });
        expect(found['notes']).toEqual([
          'Headers and footers are not part of the text: “Draft & secret”.',
          'Equations are left out of the text (1): “E=mc2”.',
          'Comments are left out of the text (1).',
        ]);
      }, folder);
    }));

  it('parts a heading of a PDF from the sentence below it, by its font or its number', () =>
    inFolder(async (folder) => {
      const line = (font: string, y: number, text: string): string => `BT /${font} 12 Tf 50 ${y} Td (${text}) Tj ET\n`;
      const content = [
        line('G', 700, 'Retention'),
        line('F', 685, 'Records are kept for ten years, and nobody'),
        line('F', 670, 'may delete them before.'),
        line('F', 655, '2.1 Access'),
        line('F', 640, 'An auditor reads all of them.'),
      ].join('');
      writeFileSync(join(folder, 'a.pdf'), pdfOf(Buffer.from(content)));
      await inDocuments(async ({ run }) => {
        const found = await run('extract_document_text', { path: 'a.pdf' });
        expect(String(found['text']).split('\n\n')).toEqual([
          'Retention',
          'Records are kept for ten years, and nobody may delete them before.',
          '2.1 Access',
          'An auditor reads all of them.',
        ]);
        const offset = String(found['text']).indexOf('auditor');
        expect(await run('extract_document_text', { path: 'a.pdf', offset })).toMatchObject({
          section: '2.1 Access',
        });
      }, folder);
    }));

  it('prefers the session’s own file, and says which documents there are where there is none', () =>
    inDocuments(async ({ run, workspace }) => {
      await workspace.write('cash-register.txt', 'mine');
      expect(await run('extract_document_text', { path: 'cash-register.txt' })).toMatchObject({ text: 'mine' });
      await expect(run('extract_document_text', { path: 'other.pdf' })).rejects.toThrow(
        /no document “other\.pdf”.*cash-register\.txt, invoice-archive\.docx/,
      );
    }));
});

describe('a document that is not to be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-documents-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = async (path: string): Promise<unknown> => {
    let thrown: unknown;
    await inDocuments(async ({ run }) => {
      thrown = await run('extract_document_text', { path }).catch((error: unknown) => error);
    }, folder);
    return thrown;
  };
  const refused = async (path: string, why: RegExp): Promise<void> => {
    const error = await read(path);
    expect(error).toBeInstanceOf(ToolUserError);
    expect((error as Error).message).toMatch(why);
  };

  it.each(['../package.json', '/etc/passwd', 'a/../../b'])('is refused outside the folders: %s', (path) =>
    refused(path, /leads upwards|is absolute/),
  );

  it('is refused behind a link', async () => {
    symlinkSync(join(samples, 'cash-register.txt'), join(folder, 'link.txt'));
    await refused('link.txt', /never followed/);
  });

  it('is refused where it is no document, or not what its name says', async () => {
    writeFileSync(join(folder, 'program.txt'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
    await refused('program.txt', /not a PDF, DOCX, HTML or text/);
    writeFileSync(join(folder, 'no.pdf'), 'text');
    await refused('no.pdf', /named \.pdf and is none/);
    writeFileSync(join(folder, 'broken.docx'), Buffer.from('PK\u0003\u0004 and nothing'));
    await refused('broken.docx', /cannot be read as DOCX/);
    writeFileSync(join(folder, 'broken.pdf'), '%PDF-1.4\n%%EOF');
    await refused('broken.pdf', /cannot be read as PDF: .*[^.]\. Give a sound file/);
    for (const [name, content, sentence] of [
      ['a.rtf', '{\\rtf1\\ansi {\\b Bold}}', /“a\.rtf” is an RTF document, which is not read\. Save it as/],
      ['b.txt', '{\\rtf1\\ansi x}', /RTF/],
      ['c.ps', '%!PS-Adobe-3.0\n(x) show', /PostScript/],
      ['d.doc', '\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1\0', /before 2007/],
      ['e.mht', 'From: x\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n', /web archive/],
      ['f.xml', '<?xml version="1.0"?><w:wordDocument xmlns:w="x"/>', /one XML file/],
    ] as const) {
      writeFileSync(join(folder, name), content, 'latin1');
      await refused(name, sentence);
    }
  });

  it('names the character maps that a PDF needs and are not here', async () => {
    const cid =
      '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /DW 1000 ' +
      '/FontDescriptor << /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /Ascent 800 /Descent -200 >> >>';
    const font = `<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [${cid}] >>`;
    const japanese = 'BT /G 12 Tf 50 700 Td <8ACB6C42> Tj ET\n';
    writeFileSync(join(folder, 'cid.pdf'), pdfOf(Buffer.from(japanese), font));
    await refused('cid.pdf', /holds no text that can be read.*character map UniJIS-UCS2-H/);
    const both = `${japanese}BT /F 12 Tf 50 600 Td (Latin) Tj ET`;
    writeFileSync(join(folder, 'both.pdf'), pdfOf(Buffer.from(both), font));
    expect(await read('both.pdf')).toMatchObject({
      text: 'Latin',
      notes: [expect.stringMatching(/Some of its text.*UniJIS-UCS2-H/)],
    });
  });

  it('fails alone where a DOCX is made to exhaust its parser, and the next one is read', async () => {
    const paragraph = '<w:p><w:r><w:t>bomb</w:t></w:r></w:p>';
    const bomb = docxOf(Buffer.alloc(400 * 1_048_576, paragraph));
    expect(bomb.length).toBeLessThan(4 * 1_048_576);
    writeFileSync(join(folder, 'bomb.docx'), bomb);
    await refused('bomb.docx', /too much memory|takes longer|text is (?:too long|longer)/);
    writeFileSync(join(folder, 'sound.docx'), docxOf(Buffer.from(paragraph)));
    expect(await read('sound.docx')).toMatchObject({ text: 'bomb' });
  });

  it('fails alone where a PDF is made to exhaust its parser', async () => {
    const bomb = pdfOf(Buffer.alloc(700 * 1_048_576, 'BT /F 12 Tf (bomb) Tj ET\n'));
    expect(bomb.length).toBeLessThan(8 * 1_048_576);
    writeFileSync(join(folder, 'bomb.pdf'), bomb);
    await refused('bomb.pdf', /too much memory|takes longer|text is (?:too long|longer)/);
    writeFileSync(join(folder, 'sound.pdf'), pdfOf(Buffer.from('BT /F 12 Tf 50 700 Td (sound) Tj ET')));
    expect(await read('sound.pdf')).toMatchObject({ text: 'sound' });
  });

  it('ends its parser with the call', async () => {
    await inDocuments(async ({ run }) => {
      const reason = new Error('The time of the call is up.');
      const cancellation = { signal: AbortSignal.abort(reason) };
      await expect(run('extract_document_text', { path: 'rechnungsarchiv.pdf' }, { cancellation })).rejects.toBe(
        reason,
      );
      const stopping = new AbortController();
      setTimeout(() => stopping.abort(reason), 30);
      const later = { cancellation: { signal: stopping.signal } };
      await expect(run('extract_document_text', { path: 'rechnungsarchiv.pdf' }, later)).rejects.toBe(reason);
    });
  });
});
