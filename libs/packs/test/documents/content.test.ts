import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { chunksOf } from '../../src/document/chunks.js';
import { parseText } from '../../src/document/parse-text.js';
import { tokenCounter } from '../../src/document/tokens.js';
import { inDocuments } from './in-documents.js';

interface Found {
  readonly text: string;
  readonly type: string;
  readonly language: string;
  readonly confidence: number;
  readonly start: number;
  readonly end: number;
}

describe('chunk_document (D-T17)', () => {
  it('gives chunks that rejoin to the source, none larger than asked for', async () => {
    const count = await tokenCounter();
    const words = fc.constantFrom(
      'word',
      'Rechnung',
      '🏔',
      'a.',
      'b;',
      '\n',
      '\n\n',
      '# Title',
      '- item',
      'x'.repeat(90),
      '',
    );
    const options = fc.record({
      by: fc.constantFrom('structure' as const, 'tokens' as const),
      size: fc.integer({ min: 20, max: 60 }),
      overlap: fc.integer({ min: 0, max: 10 }),
    });
    fc.assert(
      fc.property(fc.array(words, { maxLength: 150 }), options, (parts, asked) => {
        const document = parseText(Buffer.from(parts.join(' ')), 100_000);
        const chunks = chunksOf(document, asked, count);
        expect(chunks.map(({ text, overlap }) => text.slice(overlap)).join('')).toBe(document.text);
        for (const { text, tokens } of chunks) {
          expect(tokens).toBe(count(text));
          expect(tokens).toBeLessThanOrEqual(asked.size + 2);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('divides by sections, with the place of each, and begins with the end of the one before', () =>
    inDocuments(async ({ run }) => {
      const { chunks } = await run('chunk_document', { path: 'invoice-archive.docx', size: 60, overlap: 10 });
      const all = chunks as { text: string; section: string; overlap: number }[];
      expect(all.map(({ section }) => section)).toContain('Invoice archive');
      const [, second] = all;
      expect(second?.overlap).toBeGreaterThan(0);
      expect(all[0]?.text.endsWith(String(second?.text.slice(0, second.overlap)))).toBe(true);
    }));

  it('goes on at next, and refuses an overlap of more than half', () =>
    inDocuments(async ({ run, workspace }) => {
      await workspace.write('long.txt', 'One more sentence about invoices. '.repeat(4_000));
      const first = await run('chunk_document', { path: 'long.txt', size: 1_000 });
      expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(32_768);
      const second = await run('chunk_document', { path: 'long.txt', size: 1_000, from: Number(first['next']) });
      expect((second['chunks'] as { index: number }[])[0]?.index).toBe(first['next']);
      await expect(run('chunk_document', { path: 'long.txt', size: 100, overlap: 60 })).rejects.toThrow(
        /more than half/,
      );
    }));
});

describe('identify_requirement_candidates (D-T18)', () => {
  const texts = (found: Record<string, unknown>): string[] => (found['candidates'] as Found[]).map(({ text }) => text);

  it('finds the sentences of an English document that oblige, each at its place', () =>
    inDocuments(async ({ run }) => {
      const found = await run('identify_requirement_candidates', { path: 'invoice-archive.docx' });
      expect(texts(found)).toEqual([
        'The system must retain all invoice records for at least 10 years.',
        'An archived invoice must not be changed by any user.',
        'The archive shall send an InvoiceArchived message to the ERP system within 5 seconds.',
        'Users should be able to search invoices by number, customer and amount.',
      ]);
      const [first, , , last] = found['candidates'] as Found[];
      expect(first).toMatchObject({ type: 'compliance', language: 'en', section: 'Invoice archive > Retention' });
      expect(Number(first?.confidence)).toBeGreaterThan(Number(last?.confidence));
      const { text } = (await run('extract_document_text', { path: 'invoice-archive.docx' })) as { text: string };
      for (const each of found['candidates'] as Found[]) expect(text.slice(each.start, each.end)).toBe(each.text);
    }));

  it('finds those of a German one, and takes no abbreviation for the end of a sentence', () =>
    inDocuments(async ({ run }) => {
      const found = await run('identify_requirement_candidates', { path: 'rechnungsarchiv.pdf' });
      expect(texts(found)).toEqual([
        'Das System muss alle Rechnungen zehn Jahre unverändert aufbewahren.',
        'Eine gebuchte Rechnung darf nicht gelöscht werden.',
        'Ein Betriebsprüfer soll die Buchungen maschinell auswerten können.',
      ]);
      expect(found['candidates']).toMatchObject([{ language: 'de', page: 1 }, { page: 1 }, { page: 2 }]);
    }));

  it('leaves out questions, headings and scripts, and finds what may be where it is asked for', () =>
    inDocuments(async ({ run }) => {
      expect(
        texts(await run('identify_requirement_candidates', { path: 'cash-register.txt', min_confidence: 0 })),
      ).toEqual([
        '- The register must record every transaction completely and without gaps.',
        '- Receipts should be numbered consecutively.',
      ]);
      const weak = await run('identify_requirement_candidates', { path: 'visitor-desk.html', min_confidence: 0.3 });
      expect(texts(weak)).toContain('The desk can print badges.');
      expect(texts(await run('identify_requirement_candidates', { path: 'visitor-desk.html' }))).toHaveLength(2);
    }));

  it('asks the model only where it shall, and does without where its answer is no list', () =>
    inDocuments(async ({ run }) => {
      const prompts: string[] = [];
      const asked = (answer: string) => ({
        text: { complete: async (prompt: string) => (prompts.push(prompt), answer) },
      });
      const args = { path: 'invoice-archive.docx', with_model: true };
      const found = await run('identify_requirement_candidates', args, asked('Sure: [1, 2, ]'));
      expect((found['candidates'] as { confirmed: boolean }[]).map(({ confirmed }) => confirmed)).toEqual([
        true,
        true,
        false,
        false,
      ]);
      expect(prompts[0]).toContain('1. The system must retain all invoice records');
      expect(await run('identify_requirement_candidates', args, asked('All of them.'))).toMatchObject({
        model: 'unusable answer',
        total: 4,
      });
    }));
});

describe('assess_gobd_relevance (D-T19)', () => {
  const assess = (text: string) => {
    let found: Record<string, unknown> = {};
    return inDocuments(async ({ run }) => void (found = await run('assess_gobd_relevance', { text }))).then(
      () => found,
    );
  };

  it.each([
    ['Invoices must be retained for ten years and never be deleted.', ['immutability', 'retention']],
    ['Rechnungen sind zehn Jahre unveränderbar aufzubewahren.', ['immutability', 'retention']],
    ['The rules of § 147 Abs. 1 AO apply.', ['named']],
    [
      'Der Betriebsprüfer wertet die Buchungen aus; eine Verfahrensdokumentation liegt vor.',
      ['data access', 'procedural documentation'],
    ],
  ])('finds %j relevant', async (text, names) => {
    const found = await assess(text);
    expect(found['relevant']).toBe(true);
    expect((found['findings'] as { principle: string }[]).map(({ principle }) => principle).sort()).toEqual(names);
  });

  it.each([
    'The button should be blue.',
    'Das Team traf sich im Frühling in Zürich.',
    'Log files of the web server are kept in order.',
    'Photos of the party are archived.',
  ])('finds %j irrelevant', async (text) => {
    expect(await assess(text)).toMatchObject({ relevant: false });
  });

  it('takes a document, and the model’s opinion beside the score', () =>
    inDocuments(async ({ run }) => {
      const text = { complete: async () => 'Yes: it is about retention.' };
      const found = await run('assess_gobd_relevance', { path: 'rechnungsarchiv.pdf', with_model: true }, { text });
      expect(found).toMatchObject({ relevant: true, score: 1, model_opinion: 'Yes: it is about retention.' });
      expect(await run('assess_gobd_relevance', { path: 'visitor-desk.html' })).toMatchObject({ relevant: false });
      await expect(run('assess_gobd_relevance', {})).rejects.toThrow(/either a text or the path/);
    }));
});

describe('extract_entity_mentions (D-T20)', () => {
  const named = (found: Record<string, unknown>): string[] =>
    (found['mentions'] as { kind: string; name: string }[]).map(({ kind, name }) => `${kind} ${name}`);

  it('finds what documents in both languages mention', () =>
    inDocuments(async ({ run }) => {
      const english = named(await run('extract_entity_mentions', { path: 'invoice-archive.docx' }));
      for (const each of [
        'business_object invoices',
        'duration 10 years',
        'role administrator',
        'system ERP',
        'amount 99.5 %',
      ])
        expect(english).toContain(each);
      const german = named(await run('extract_entity_mentions', { path: 'rechnungsarchiv.pdf' }));
      for (const each of [
        'business_object Rechnungen',
        'law GoBD',
        'law § 147 Abs. 1 AO',
        'role Betriebsprüfer',
        'duration zehn Jahre',
      ])
        expect(german).toContain(each);
    }));

  it('finds names that it is given, the most frequent first, with their first place', () =>
    inDocuments(async ({ run }) => {
      const args = {
        path: 'invoice-archive.docx',
        messages: ['InvoiceArchived'],
        kinds: ['message', 'business_object'],
      };
      const found = await run('extract_entity_mentions', args);
      expect(named(found)).toContain('message InvoiceArchived');
      const mentions = found['mentions'] as { name: string; count: number; first: Found }[];
      const counts = mentions.map(({ count }) => count);
      expect(counts).toEqual([...counts].sort((a, b) => b - a));
      const { text } = (await run('extract_document_text', { path: 'invoice-archive.docx' })) as { text: string };
      for (const { name, first } of mentions) expect(text.slice(first.start, first.end)).toBe(name);
    }));

  it('takes no pattern in a name for more than its letters', () =>
    inDocuments(async ({ run }) => {
      const found = await run('extract_entity_mentions', {
        path: 'cash-register.txt',
        business_objects: ['.*', 'a(b'],
      });
      expect(named(found)).not.toContain('business_object .*');
    }));
});
