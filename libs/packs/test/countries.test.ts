import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtInTools, openEmbeddedKnowledge, openJournalFile } from '@sluice/packs';
import type { KnowledgeStore, Row } from '@sluice/tools';
import { context, patience } from '../../sources/test/configured.js';

const folder = mkdtempSync(join(tmpdir(), 'countries-'));
const file = join(folder, 'data/countries.nt');
const builder = pathToFileURL(join(import.meta.dirname, '../../../examples/countries/build.mjs')).href;
const knowledgeQuery = builtInTools.find(({ type }) => type === 'knowledge-query');
let knowledge: KnowledgeStore;
let build: (file: string) => Promise<number>;

beforeAll(async () => {
  ({ buildCountries: build } = (await import(builder)) as { buildCountries: typeof build });
  expect(await build(file)).toBe(250);
  knowledge = await openEmbeddedKnowledge({ load: [file], journal: openJournalFile(null) });
});
afterAll(async () => {
  await knowledge.close();
  rmSync(folder, { recursive: true });
});

/** Asks as the executor would, and gives what a model would read. */
async function ask(args: {
  entity?: string;
  relation?: string;
  sparql?: string;
}): Promise<{ rows: Row[]; count: number; truncated?: boolean }> {
  if (knowledgeQuery === undefined) throw new Error('no knowledge-query');
  const output = await knowledgeQuery.execute(args, context, { knowledge, cancellation: { signal: patience() } });
  return knowledgeQuery.parseOutput(output) as unknown as { rows: Row[]; count: number; truncated?: boolean };
}

describe('the countries', () => {
  it('are written the same way every time, with their licence on the first line', async () => {
    const first = readFileSync(file, 'utf8');
    await build(file);
    expect(readFileSync(file, 'utf8')).toBe(first);
    expect(first.split('\n')[0]).toMatch(/^# .*Open Database License \(ODbL\) 1\.0/);
  });

  it('which countries border Switzerland', async () => {
    const { rows, count } = await ask({ entity: 'Switzerland', relation: 'border' });
    expect(rows.map(({ name }) => name)).toEqual(['Austria', 'France', 'Germany', 'Italy', 'Liechtenstein']);
    expect(count).toBe(5);
    expect(rows[4]).toEqual({
      name: 'Liechtenstein',
      area: 160,
      borders: 2,
      capital: 'Vaduz',
      cca2: 'LI',
      cca3: 'LIE',
      currency: 'Swiss franc',
      landlocked: true,
      language: 'German',
      region: 'Europe',
      subregion: 'Western Europe',
    });
  });

  it.each([
    ['France', 'capital', [{ capital: 'Paris' }]],
    ['Belgium', 'spoken languages', [{ language: 'Dutch' }, { language: 'French' }, { language: 'German' }]],
    ['UK', 'capital city', [{ capital: 'London' }]],
    ['Nepal', 'size', [{ area: 147181 }]],
    ['Mongolia', 'landlocked', [{ landlocked: true }]],
  ])('%s, %s', async (entity, relation, expected) => {
    expect((await ask({ entity, relation })).rows).toEqual(expected);
  });

  it('which countries neighbour Portugal, speak Romansh, have the capital Bern', async () => {
    expect((await ask({ entity: 'Portugal', relation: 'neighbouring' })).rows).toMatchObject([{ name: 'Spain' }]);
    expect((await ask({ entity: 'Romansh', relation: 'language' })).rows).toMatchObject([{ name: 'Switzerland' }]);
    expect((await ask({ entity: 'Bern', relation: 'capital' })).rows).toMatchObject([{ name: 'Switzerland' }]);
  });

  it('suggests the country that was misspelt', async () => {
    await expect(ask({ entity: 'Swizterland' })).rejects.toThrow(/Did you mean "Switzerland"\?/);
  });

  it('answers SPARQL, and says when it shows only a part', async () => {
    const pairs = await ask({ sparql: 'PREFIX r: <urn:sluice:relation:> SELECT ?a ?b { ?a r:borders ?b }' });
    expect(pairs.truncated).toBe(true);
    expect(pairs.rows).toHaveLength(200);
    expect(pairs.count).toBeGreaterThan(600);
  });

  it('keeps an answer about many countries within its bytes', async () => {
    const europe = await ask({ entity: 'Europe', relation: 'region' });
    expect(europe.count).toBe(53);
    expect(Buffer.byteLength(JSON.stringify(europe))).toBeLessThanOrEqual(24 * 1024);
  });
});
