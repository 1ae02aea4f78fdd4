import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ToolInputError, ToolUserError } from '@sluice/core';
import type { Documents, JsonObject } from '@sluice/core';
import { openPostgresLedger, openSqliteLedger } from '@sluice/ledger';
import {
  builtInTools,
  citationsIn,
  openDocuments,
  openFolderWorkspaces,
  openWeb,
  ownerKey,
  ParsedDocuments,
  requirementsIn,
  sessionKey,
} from '@sluice/packs';
import { html, serve } from '../libs/packs/test/documents/web-server.js';
import { infra } from './infra/client.ts';
import { freshDatabase } from './infra/fresh.ts';

type Run = (
  type: string,
  args?: JsonObject,
  who?: { user?: string; tenant?: string; session?: string },
) => Promise<Record<string, unknown>>;

interface Given {
  readonly run: Run;
  readonly folder: string;
  readonly documents: Documents;
}

const sentence = 'Invoices must be kept for ten years.';
const reader = (tenantId: string) => ({ tenantId, actorId: 'user:reader' });
const stores = ['SQLite', 'PostgreSQL'] as const;

async function on(
  store: (typeof stores)[number],
  work: (given: Given) => Promise<void>,
  privateHosts: readonly string[] = [],
): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'sluice-citations-'));
  const database = store === 'SQLite' ? null : await freshDatabase((await infra('postgres')).databaseUrl);
  const ledger =
    database === null
      ? await openSqliteLedger({ file: join(root, 'ledger.sqlite') })
      : await openPostgresLedger({ url: database.url, instance: 'a' });
  const folder = mkdtempSync(join(root, 'documents-'));
  const clock = { now: () => Date.UTC(2026, 0, 1) };
  const parsed = new ParsedDocuments();
  const web = openWeb({ privateHosts, search: null, parsed, clock });
  const workspaces = openFolderWorkspaces(join(root, 'workspaces'), clock, () => undefined);
  const run: Run = async (type, args = {}, { user = 'user:u', tenant = 't', session = 's' } = {}) => {
    const contract = builtInTools.find((each) => each.type === type);
    if (contract === undefined) throw new Error(`no ${type}`);
    const context = { runId: 'r', sessionId: session, toolCallId: 'c', actorId: user, tenantId: tenant };
    const given = {
      citations: citationsIn(ledger.documents, ownerKey(context), clock),
      requirements: requirementsIn(ledger.documents, context, clock),
      documents: openDocuments(workspaces.of(sessionKey(context)), folder, parsed),
      web,
      cancellation: { signal: new AbortController().signal },
    };
    return contract.parseOutput(await contract.execute(contract.parseInput(args), context, given)) as Record<
      string,
      unknown
    >;
  };
  try {
    await work({ run, folder, documents: ledger.documents });
  } finally {
    await web.close();
    await ledger.close();
    await database?.drop();
    rmSync(root, { recursive: true });
  }
}

describe.each(stores)('citations on %s', (store) => {
  it('are of quotes that stand in a document, with its hash and the place (D-T23)', () =>
    on(store, async ({ run, folder }) => {
      writeFileSync(
        join(folder, 'rules.md'),
        `# Rules\n\n## Keeping\n\nFirst. Invoices  must be kept\nfor ten years. Last “word”.\n`,
      );
      const cited = await run('cite_document', { path: 'rules.md', quote: sentence, claim: 'The period.' });
      expect(cited).toMatchObject({
        id: 'C-0001',
        source: {
          id: 'S-0001',
          kind: 'document',
          location: 'rules.md',
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        quote: 'Invoices  must be kept\nfor ten years.',
        match: 'typography',
        place: { section: '# Rules > ## Keeping' },
        claim: 'The period.',
        cited_at: '2026-01-01T00:00:00.000Z',
      });
      expect(await run('cite_document', { path: 'rules.md', quote: 'Last "word"' })).toMatchObject({
        id: 'C-0002',
        source: { id: 'S-0001' },
      });
      await expect(
        run('cite_document', { path: 'rules.md', quote: 'Invoices must be kept for six years.' }),
      ).rejects.toThrow(/does not stand in the source/);
      await expect(run('cite_document', { path: 'none.md', quote: sentence })).rejects.toThrow(/no document/);
    }));

  it('count once however often they are made, and by any number at once', () =>
    on(store, async ({ run, folder }) => {
      writeFileSync(
        join(folder, 'rules.txt'),
        `${sentence} ${Array.from({ length: 12 }, (_, n) => `Sentence number ${n}.`).join(' ')}`,
      );
      const same = await Promise.all(
        Array.from({ length: 8 }, () => run('cite_document', { path: 'rules.txt', quote: sentence })),
      );
      expect(new Set(same.map(({ id }) => id)).size).toBe(1);
      const different = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          run('cite_document', { path: 'rules.txt', quote: `Sentence number ${n}.` }),
        ),
      );
      expect(new Set(different.map(({ id }) => id)).size).toBe(12);
      const { sources, total } = await run('list_sources');
      expect([(sources as unknown[]).length, total]).toEqual([1, 1]);
    }));

  it('are of web pages as well, and sources are listed once each (D-T24, D-T25)', async () => {
    const server = await serve({ '/rules': html(`First. ${sentence}`) });
    await on(
      store,
      async ({ run, folder }) => {
        const url = `http://${server.host}/rules`;
        expect(await run('cite_web', { url, quote: sentence })).toMatchObject({
          id: 'C-0001',
          source: { kind: 'web', location: url },
        });
        await expect(run('cite_web', { url, quote: 'Not on that page.' })).rejects.toThrow(/does not stand/);
        writeFileSync(join(folder, 'a.txt'), sentence);
        await run('cite_document', { path: 'a.txt', quote: sentence });
        await run('cite_document', { path: 'a.txt', quote: 'kept for ten' });
        expect(await run('list_sources')).toMatchObject({
          sources: [
            { id: 'S-0001', location: url },
            { id: 'S-0002', location: 'a.txt' },
          ],
          total: 2,
        });
        expect(await run('list_sources', { from: 1 })).toMatchObject({ sources: [{ id: 'S-0002' }], total: 2 });
        expect(await run('get_citation', { id: 'C-0001', check: true })).toMatchObject({ found: 'unchanged' });
      },
      [server.host],
    );
    await server.close();
  });

  it('are found again in their source, unchanged, moved or missing (D-T26)', () =>
    on(store, async ({ run, folder }) => {
      const file = join(folder, 'rules.txt');
      writeFileSync(file, sentence);
      const { id } = (await run('cite_document', { path: 'rules.txt', quote: sentence })) as { id: string };
      expect(await run('get_citation', { id })).toMatchObject({ id, quote: sentence });
      expect(await run('get_citation', { id, check: true })).toMatchObject({ found: 'unchanged' });
      writeFileSync(file, `A new preface. ${sentence}`);
      expect(await run('get_citation', { id, check: true })).toMatchObject({
        found: 'moved',
        place_now: { start: 15 },
      });
      writeFileSync(file, 'Nothing of it.');
      expect(await run('get_citation', { id, check: true })).toMatchObject({ found: 'missing', quote: sentence });
      rmSync(file);
      expect(await run('get_citation', { id, check: true })).toMatchObject({ found: 'unreadable' });
      await expect(run('get_citation', { id: 'C-0099' })).rejects.toThrow(ToolUserError);
      await expect(run('get_citation', { id: '../C' })).rejects.toThrow(/no citation/);
    }));

  it('are those of their user in all sessions, and of no other', () =>
    on(store, async ({ run, folder }) => {
      writeFileSync(join(folder, 'a.txt'), sentence);
      await run('cite_document', { path: 'a.txt', quote: sentence });
      expect(await run('get_citation', { id: 'C-0001' }, { session: 'another' })).toMatchObject({ id: 'C-0001' });
      for (const who of [{ user: 'user:other' }, { tenant: 'other' }]) {
        await expect(run('get_citation', { id: 'C-0001' }, who)).rejects.toThrow(/no citation/);
        expect(await run('list_sources', {}, who)).toEqual({ sources: [], total: 0 });
      }
    }));
});

describe.each(stores)('write_requirement_to_cache on %s (D-T27)', (store) => {
  const requirement = {
    text: 'The system must retain all invoice records for at least 10 years.',
    name: 'Invoice retention',
  };

  it('submits a requirement once, with what was said of it', () =>
    on(store, async ({ run, documents }) => {
      const more = { ...requirement, req_type: 'compliance', priority: 'high', mentions: ['Invoice'] };
      const first = await run('write_requirement_to_cache', more);
      expect(first).toMatchObject({
        id: 'Q-0001',
        created: true,
        gobd_relevant: true,
        confirmation: expect.stringContaining('waits'),
      });
      const again = { ...more, text: ` ${requirement.text.toUpperCase().replace(' MUST', '  MUST')} ` };
      expect(await run('write_requirement_to_cache', again)).toMatchObject({ id: 'Q-0001', created: false });
      expect(
        await run('write_requirement_to_cache', { text: 'The button should be blue.', name: 'Button' }),
      ).toMatchObject({
        id: 'Q-0002',
        gobd_relevant: false,
      });
      const cache = requirementsIn(documents, reader('t'), { now: () => 0 });
      expect(await cache.list(0, 10)).toMatchObject([
        { id: 'Q-0001', type: 'compliance', priority: 'high', actor: 'user:u', mentions: ['Invoice'] },
        { id: 'Q-0002', type: 'functional', priority: 'medium' },
      ]);
      expect(await requirementsIn(documents, reader('other'), { now: () => 0 }).list(0, 10)).toEqual([]);
    }));

  it('loses and doubles none where many submit at once', () =>
    on(store, async ({ run, documents }) => {
      const texts = Array.from({ length: 20 }, (_, n) => `The system must keep record number ${n % 10}.`);
      await Promise.all(texts.map((text) => run('write_requirement_to_cache', { ...requirement, text })));
      const all = await requirementsIn(documents, reader('t'), { now: () => 0 }).list(0, 100);
      expect(new Set(all.map(({ text }) => text)).size).toBe(10);
      expect(all).toHaveLength(10);
    }));

  it('refuses a name of 81 characters, a type that there is not, and a citation that there is not', () =>
    on(store, async ({ run }) => {
      const submit = (changes: JsonObject) => run('write_requirement_to_cache', { ...requirement, ...changes });
      expect(await submit({ name: 'n'.repeat(80) })).toMatchObject({ created: true });
      await expect(submit({ name: 'n'.repeat(81) })).rejects.toThrow(ToolInputError);
      await expect(submit({ req_type: 'wish' })).rejects.toThrow(ToolInputError);
      await expect(submit({ priority: 'urgent' })).rejects.toThrow(ToolInputError);
      await expect(submit({ name: '   x   ' })).rejects.toThrow(ToolUserError);
      await expect(submit({ text: 'Another text that is new.', citations: ['C-0001'] })).rejects.toThrow(/no citation/);
    }));
});
