import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolUserError } from '@sluice/core';
import type { KnowledgeStore } from '@sluice/tools';
import { patience } from '../../sources/test/configured.js';

/** A small graph: two countries, one with an umlaut, a name in two languages, a name two things share, and a city. */
export const sampleTurtle = `
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:northland rdfs:label "Northland"@en , "Nordland"@de ; skos:altLabel "The North" ; :area 500 ; :hasOfficialLanguage "Nordish", "Old Nordish" ;
  :landlocked false ; :borders :southland , :oland ; :leader "Ada \\"the\\" First\\nof her name" .
:southland rdfs:label "Southland" ; :area 70.5 ; :borders :northland ; :partOf :realm .
:oland rdfs:label "Öland" ; :area 12 ; :borders :northland .
:realm rdfs:label "Realm" .
:twin1 rdfs:label "Twin" . :twin2 rdfs:label "Twin" .
:borders rdfs:label "borders" ; skos:altLabel "neighbours" .
`;

/**
 * What every knowledge graph does, wherever its triples are: `open` gives one that holds the sample and nothing else.
 */
export function knowledgeSuite(name: string, open: () => Promise<KnowledgeStore>): void {
  describe(`${name}: the knowledge suite`, () => {
    let store: KnowledgeStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    const find = (entity: string, relation?: string) => store.find(entity, relation, patience());
    const query = (sparql: string) => store.query(sparql, patience());
    const change = (add: [string, string, string | number | boolean][], remove: typeof add, key: string) => {
      const statements = (list: typeof add) =>
        list.map(([subject, predicate, object]) => ({ subject, predicate, object }));
      return store.change({ add: statements(add), remove: statements(remove) }, key, patience());
    };

    describe('find', () => {
      it.each(['Northland', 'northland', 'NORDLAND', 'the north', 'http://example.org/northland'])(
        'finds a thing as %s',
        async (entity) => {
          expect((await find(entity, 'area')).rows).toEqual([{ area: 500 }]);
        },
      );

      it('gives the facts of a thing by name, in order', async () => {
        expect(await find('Southland')).toEqual({
          rows: [
            { relation: 'area', value: 70.5 },
            { relation: 'borders', value: 'Northland' },
            { relation: 'name', value: 'Southland' },
            { relation: 'part Of', value: 'Realm' },
          ],
          count: 4,
        });
      });

      it.each(['borders', 'border', 'bordering', 'bordered', 'neighbours', 'neighbouring countries', 'borders with'])(
        'follows %s to the related things with their own facts',
        async (relation) => {
          expect(await find('Northland', relation)).toEqual({
            rows: [
              { name: 'Southland', area: 70.5, borders: 1, 'part Of': 1 },
              { name: 'Öland', area: 12, borders: 1 },
            ],
            count: 2,
          });
        },
      );

      it.each(['language', 'languages', 'official language', 'Official Languages'])(
        'finds values by %s',
        async (relation) => {
          expect((await find('Northland', relation)).rows).toEqual([
            { 'has Official Language': 'Nordish' },
            { 'has Official Language': 'Old Nordish' },
          ]);
        },
      );

      it('joins several values of one thing', async () => {
        const [northland] = (await find('Southland', 'borders')).rows;
        expect(northland).toEqual({
          name: 'Northland',
          area: 500,
          'has Official Language': 'Nordish, Old Nordish',
          landlocked: false,
          leader: 'Ada "the" First\nof her name',
          borders: 2,
        });
      });

      it('follows a relation backwards where it does not lead forwards', async () => {
        expect((await find('Realm', 'part of')).rows).toMatchObject([{ name: 'Southland' }]);
      });

      it('finds the things that have a value', async () => {
        expect((await find('old nordish')).rows).toMatchObject([{ name: 'Northland' }]);
        expect((await find('Old Nordish', 'language')).rows).toMatchObject([{ name: 'Northland' }]);
        await expect(find('Old Nordish', 'area')).rejects.toThrow(/has Official Language/);
      });

      it('names what the thing has where the relation is unknown', async () => {
        await expect(find('Southland', 'president')).rejects.toThrow(
          new ToolUserError('"Southland" has no relation "president". It has: area, borders, part Of.'),
        );
      });

      it('suggests near names', async () => {
        await expect(find('Sothland')).rejects.toThrow(/Nothing is called "Sothland"\. Did you mean "Southland"\?/);
        await expect(find('Xyzzy')).rejects.toThrow(/Nothing is called "Xyzzy"/);
      });

      it('asks which one where two things share a name', async () => {
        await expect(find('Twin')).rejects.toThrow(
          /2 things.*http:\/\/example.org\/twin1, http:\/\/example.org\/twin2/,
        );
      });

      it.each(['"', '\\', 'a"} INSERT', '}>', 'x\ny', "'''"])(
        'takes %j for a name and nothing else',
        async (entity) => {
          await expect(find(entity, entity)).rejects.toThrow(/Nothing is called/);
        },
      );
    });

    describe('query', () => {
      it('gives SELECT rows in the query’s order, columns too', async () => {
        const { rows, count } = await query(
          'PREFIX : <http://example.org/> SELECT ?name ?area { ?x :area ?area ; <http://www.w3.org/2000/01/rdf-schema#label> ?name } ORDER BY DESC(?area) ?name',
        );
        expect(rows.map((row) => Object.values(row))).toEqual([
          ['Nordland', 500],
          ['Northland', 500],
          ['Southland', 70.5],
          ['Öland', 12],
        ]);
        expect(Object.keys(rows[0] ?? {})).toEqual(['name', 'area']);
        expect(count).toBe(4);
      });

      it('answers ASK, CONSTRUCT and DESCRIBE', async () => {
        expect(await query('ASK { <http://example.org/oland> ?p 12 }')).toEqual({ rows: [{ answer: true }], count: 1 });
        expect(await query('CONSTRUCT WHERE { <http://example.org/southland> <http://example.org/area> ?o }')).toEqual({
          rows: [{ subject: 'http://example.org/southland', predicate: 'http://example.org/area', object: 70.5 }],
          count: 1,
        });
        expect((await query('DESCRIBE <http://example.org/realm>')).count).toBeGreaterThan(0);
      });

      it.each([
        'INSERT DATA { <a:b> <a:b> 1 }',
        'PREFIX select: <http://select/> # SELECT\nDELETE WHERE { ?s ?p ?o }',
        'BASE <http://x/> CLEAR ALL',
        'WITH <a:b> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }',
      ])('refuses to change anything: %s', async (sparql) => {
        await expect(query(sparql)).rejects.toThrow(/only reads/);
        expect((await query('SELECT * { ?s ?p ?o }')).count).toBeGreaterThan(10);
      });

      it.each([
        'SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }',
        'SELECT * { \\u0053ERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }',
        // What looks like a comment or a string to whoever does not decode the IRI.
        'SELECT * { ?s <http://a#\\u0041> ?o . SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } }',
        "SELECT * { ?s <http://a'\\U00000041> ?o . SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } } # '",
      ])('refuses to reach another server: %s', async (sparql) => {
        await expect(query(sparql)).rejects.toThrow(/SERVICE would|\\u escapes/);
      });

      it('is not fooled by words inside texts and IRIs', async () => {
        const { rows } = await query(
          "SELECT (\"SERVICE } LIMIT 0 #\" AS ?a) ('''insert \"''' AS ?b) (STR(<http://x/service#limit>) AS ?c) {} # SERVICE",
        );
        expect(rows).toEqual([{ a: 'SERVICE } LIMIT 0 #', b: 'insert "', c: 'http://x/service#limit' }]);
      });

      it('names what is wrong with a query', async () => {
        await expect(query('SELECT * { ?s ?p ?o')).rejects.toThrow(/at 1:\d+/);
        await expect(query('SELECT * { ?s ?p }')).rejects.toThrow(ToolUserError);
        await expect(query('hello')).rejects.toThrow(/SELECT, ASK, CONSTRUCT or DESCRIBE/);
        await expect(query(`SELECT * { ${' '.repeat(10_000)} }`)).rejects.toThrow(/10000/);
      });
    });

    describe('change', () => {
      it('adds by name and finds it again', async () => {
        expect(await change([['Sluice', 'is written in', 'TypeScript']], [], 'add-1')).toEqual({
          added: 1,
          removed: 0,
          alreadyDone: false,
        });
        expect(await find('sluice', 'written in')).toEqual({ rows: [{ 'is written in': 'TypeScript' }], count: 1 });
        expect((await find('TypeScript')).rows).toMatchObject([{ name: 'Sluice' }]);
      });

      it('changes nothing for a key it knows, even if asked for something else', async () => {
        expect(await change([['Sluice', 'is written in', 'COBOL']], [], 'add-1')).toEqual({
          added: 1,
          removed: 0,
          alreadyDone: true,
        });
        expect((await find('Sluice', 'written in')).count).toBe(1);
      });

      it('counts only what was not there', async () => {
        expect(
          await change(
            [
              ['Sluice', 'IS WRITTEN IN', 'TypeScript'],
              ['Sluice', 'stars', 5],
            ],
            [],
            'add-2',
          ),
        ).toMatchObject({ added: 1 });
      });

      it('takes an existing name for the thing, and a name in quotes for text', async () => {
        await change(
          [
            ['Sluice', 'used in', 'southland'],
            ['Sluice', 'motto', '"Southland"'],
          ],
          [],
          'add-3',
        );
        expect((await find('Sluice', 'used in')).rows).toMatchObject([{ name: 'Southland', area: 70.5 }]);
        expect((await find('Sluice', 'motto')).rows).toEqual([{ motto: 'Southland' }]);
      });

      it('links new things of one change to each other', async () => {
        await change(
          [
            ['Alice', 'knows', 'Bob Öz'],
            ['Bob Öz', 'age', 41],
          ],
          [],
          'add-4',
        );
        expect((await find('Alice', 'knows')).rows).toEqual([{ name: 'Bob Öz', age: 41 }]);
      });

      it('removes by value, whatever type the value was written with', async () => {
        expect(
          await change([['Southland', 'area', 71]], [['Southland', 'http://example.org/area', 70.5]], 'replace'),
        ).toMatchObject({ removed: 1 });
        expect((await find('Southland', 'area')).rows).toEqual([{ area: 71 }]);
        expect(await change([], [['Northland', 'borders', 'Öland']], 'unlink')).toMatchObject({ removed: 1 });
        expect((await find('Northland', 'borders')).rows).toMatchObject([{ name: 'Southland' }]);
      });

      it('finds nothing to remove under an unknown name', async () => {
        expect(await change([], [['Nobody', 'knows', 'Bob Öz']], 'remove-nothing')).toEqual({
          added: 0,
          removed: 0,
          alreadyDone: false,
        });
      });

      it('does not guess between two things of one name', async () => {
        await expect(change([['Twin', 'size', 1]], [], 'twin')).rejects.toThrow(/2 things are called "Twin"/);
        expect(await change([['http://example.org/twin1', 'size', 1]], [], 'twin')).toMatchObject({
          added: 1,
          alreadyDone: false,
        });
      });

      it('finds what leads to a hundred things with long names', async () => {
        const cities = Array.from({ length: 120 }, (_, n) => `都市の名前がとても長い${n}号`);
        await change(
          cities.map((city) => ['東京', '所在地', city]),
          [],
          'long-names',
        );
        expect((await find('東京', '所在地')).count).toBe(120);
        expect((await find('東京')).count).toBe(121);
      });

      it('is made once when the same key comes twice at the same time', async () => {
        const both = await Promise.all([
          change([['Racer', 'lap', 1]], [], 'race'),
          change([['Racer', 'lap', 1]], [], 'race'),
        ]);
        expect((await find('Racer', 'lap')).count).toBe(1);
        expect(both.map(({ added }) => added)).toContain(1);
      });
    });

    it('stops when it is aborted', async () => {
      await expect(store.query('ASK {}', AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    });
  });
}
