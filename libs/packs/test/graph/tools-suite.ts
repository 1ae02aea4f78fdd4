import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ToolInputError, ToolUserError } from '@sluice/core';
import { metamodelRules } from '../../src/graph/metamodel.js';
import { readGraphFiles } from '../../src/graph/files.js';
import type { InGraph, OnGraph } from './in-graph.js';

const text = 'The system must retain all invoice records for at least 10 years.';
const requirement = { id: 'R-0001', name: 'Invoice retention', text, req_type: 'compliance' };

/** A graph with two objects, a message and a requirement that one of them fulfils. */
async function filled(given: InGraph): Promise<void> {
  const { again, run, write } = given;
  const nodes = [
    { label: 'BusinessObject', id: 'BO-INVOICE', name: 'Invoice', aliases: ['Rechnung'] },
    { label: 'BusinessObject', id: 'BO-RECEIPT', name: 'Cash Receipt' },
    { label: 'Message', id: 'M-ARCHIVED', name: 'InvoiceArchived' },
  ];
  const relationships = [{ from: 'M-ARCHIVED', type: 'USES_OBJECT', to: 'BO-INVOICE' }];
  await again(readGraphFiles([write(JSON.stringify({ nodes, relationships }))])).counts();
  await run('create_requirement_node', requirement);
  await run('create_fulfillment_relationship', {
    requirement: 'R-0001',
    fulfilled_by: 'BO-INVOICE',
    kind: 'business_object',
  });
}

/** What the tools do on a graph, whichever store it is in. */
export function describeGraphTools(inGraph: OnGraph): void {
  const onFilled: OnGraph = (work) =>
    inGraph(async (given) => {
      await filled(given);
      await work(given);
    });

  describe('execute_cypher_query (D-T28)', () => {
    it('answers from the graph, with parameters', () =>
      onFilled(async ({ run }) => {
        const query =
          'MATCH (r:Requirement)-[:FULFILLED_BY_OBJECT]->(o)<-[:USES_OBJECT]-(m:Message) WHERE o.name = $name RETURN r.id, m.id AS message';
        expect(await run('execute_cypher_query', { query, parameters: { name: 'Invoice' } })).toEqual({
          columns: ['r.id', 'message'],
          rows: [['R-0001', 'M-ARCHIVED']],
          count: 1,
          truncated: false,
        });
        expect(await run('execute_cypher_query', { query, parameters: { name: 'x' } })).toMatchObject({ rows: [] });
      }));

    it.each(['MATCH (n) DETACH DELETE n', 'MERGE (n:Requirement {id: "R-2"})', 'MATCH (n) SET n.name = 1 RETURN n'])(
      'refuses %s, and the graph stays as it is',
      (query) =>
        onFilled(async ({ run }) => {
          const before = await run('count_graph_statistics');
          await expect(run('execute_cypher_query', { query })).rejects.toThrow(/only reading is allowed/);
          expect(await run('count_graph_statistics')).toEqual(before);
        }),
    );

    it('gives the first rows of many and says so', () =>
      inGraph(async ({ run }) => {
        const query = 'UNWIND $list AS a UNWIND [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] AS b RETURN 1';
        const wide = query.replace('$list', `[${Array.from({ length: 60 }, (_, n) => n).join(', ')}]`);
        expect(await run('execute_cypher_query', { query: wide })).toMatchObject({ count: 500, truncated: true });
        const long = wide.replace('RETURN 1', `RETURN '${'x'.repeat(1_000)}'`);
        const { rows, truncated } = await run('execute_cypher_query', { query: long });
        expect([(rows as unknown[]).length < 30, truncated]).toEqual([true, true]);
      }));
  });

  it('get_database_schema gives labels, properties and relationships, and those that the metamodel knows (D-T29)', () =>
    onFilled(async ({ run }) => {
      const { labels, relationships, metamodel } = await run('get_database_schema');
      expect(labels).toEqual([
        { label: 'BusinessObject', properties: ['aliases', 'id', 'name'] },
        { label: 'Message', properties: ['id', 'name'] },
        {
          label: 'Requirement',
          properties: ['citations', 'gobd_relevant', 'id', 'name', 'priority', 'text', 'type'],
        },
      ]);
      expect(relationships).toEqual([
        { type: 'FULFILLED_BY_OBJECT', between: ['Requirement -> BusinessObject'] },
        { type: 'USES_OBJECT', between: ['Message -> BusinessObject'] },
      ]);
      expect(metamodel).toContain('(Requirement)-[FULFILLED_BY_MESSAGE]->(Message)');
    }));

  describe('similar requirements', () => {
    const others = [
      { id: 'R-0002', name: 'Receipts', text: 'The system must retain all receipt records for at least 6 years.' },
      { id: 'R-0003', name: 'Button', text: 'A button of the visitor desk should be blue.' },
    ];
    const on = (work: (given: InGraph) => Promise<void>): Promise<void> =>
      onFilled(async (given) => {
        for (const each of others) await given.run('create_requirement_node', each);
        await work(given);
      });

    it('come ranked, with scores from find_similar_requirements (D-T30, XD-9)', () =>
      on(async ({ run }) => {
        const { requirements } = await run('find_similar_requirements', { text });
        const found = requirements as { id: string; score: number }[];
        expect(found.map(({ id }) => id)).toEqual(['R-0001', 'R-0002']);
        expect(found[0]?.score).toBe(1);
        expect(found[1]?.score).toBeLessThan(0.95);
        expect(await run('find_similar_requirements', { text, count: 1 })).toMatchObject({
          requirements: [{ score: 1 }],
        });
        const all = await run('find_similar_requirements', { text, min_score: 0 });
        expect(all['requirements']).toHaveLength(3);
      }));

    it('come ranked without scores from query_similar_requirements (D-T22, XD-9)', () =>
      on(async ({ run }) => {
        expect(await run('query_similar_requirements', { text })).toEqual({
          requirements: [
            { id: 'R-0001', name: 'Invoice retention', text },
            { id: 'R-0002', name: 'Receipts', text: others[0]?.text },
          ],
        });
        expect(await run('query_similar_requirements', { text: 'Zebras graze.' })).toEqual({ requirements: [] });
      }));

    it('are duplicates from 0.95, whatever their case and marks (D-T31, XD-8)', () =>
      on(async ({ run }) => {
        const same = `${text.toUpperCase().replace('.', ' !')}`;
        expect(await run('check_for_duplicates', { text: same })).toMatchObject({
          is_duplicate: true,
          duplicates: [{ id: 'R-0001', score: 1 }],
          threshold: 0.95,
        });
        expect(await run('check_for_duplicates', { text, except: 'R-0001' })).toMatchObject({ is_duplicate: false });
        expect(await run('check_for_duplicates', { text: `${text} And 11 years abroad.` })).toMatchObject({
          is_duplicate: false,
          duplicates: [],
        });
      }));
  });

  describe.each([
    ['resolve_business_object', 'BO-INVOICE', 'Rechnung', 'Invoices', 'Zebra'],
    ['resolve_message', 'M-ARCHIVED', 'invoicearchived', 'Invoice-Archive', 'OrderPlaced'],
  ])('%s (D-T32, D-T33)', (tool, id, exact, fuzzy, none) => {
    it('finds a node by id, name or alias exactly, by a similar name, or not at all', () =>
      onFilled(async ({ run }) => {
        expect(await run(tool, { mention: id.toLowerCase() })).toMatchObject({ match: 'exact', id });
        expect(await run(tool, { mention: exact })).toMatchObject({ match: 'exact', id, score: 1 });
        const near = await run(tool, { mention: fuzzy });
        expect(near).toMatchObject({ match: 'fuzzy', id });
        expect(near['score']).toBeLessThan(1);
        const nothing = await run(tool, { mention: none });
        expect(nothing).toMatchObject({ match: 'none' });
        expect(nothing).not.toHaveProperty('id');
      }));
  });

  describe('validate_schema_compliance (D-T34)', () => {
    it('finds nothing in a graph that keeps the rules, and lists them', () =>
      onFilled(async ({ run }) => {
        const { compliant, violations, rules } = await run('validate_schema_compliance');
        expect([compliant, violations]).toEqual([true, []]);
        expect(rules).toHaveLength(Object.keys(metamodelRules).length);
      }));

    it('goes by the rules that docs/packs.md lists', () => {
      const page = readFileSync(join(import.meta.dirname, '../../../../docs/packs.md'), 'utf8').replace(/ +/g, ' ');
      for (const [rule, asks] of Object.entries(metamodelRules)) expect(page).toContain(`| \`${rule}\` | ${asks} |`);
    });

    const good = { name: 'A name', text, type: 'functional' };
    it.each<[keyof typeof metamodelRules, string, (given: InGraph) => Promise<unknown>]>([
      ['label', 'X', ({ graph }) => graph.add('Thing', { id: 'X', name: 'X' }, 'x')],
      ['id', 'Q-1', ({ graph }) => graph.add('Requirement', { ...good, id: 'Q-1' }, 'x')],
      ['name', 'R-0002', ({ graph }) => graph.add('Requirement', { ...good, id: 'R-0002', name: 'n'.repeat(81) }, 'x')],
      ['text', 'R-0002', ({ graph }) => graph.add('Requirement', { ...good, id: 'R-0002', text: '' }, 'x')],
      ['type', 'R-0002', ({ graph }) => graph.add('Requirement', { ...good, id: 'R-0002', type: 'wish' }, 'x')],
      ['unique', 'BO-X', ({ graph }) => graph.add('BusinessObject', { id: 'BO-X', name: 'INVOICE' }, 'x')],
      ['relationship', 'R-0001', (given) => relate(given, 'R-0001', 'USES_OBJECT', 'BO-INVOICE')],
      ['loop', 'R-0001', (given) => relate(given, 'R-0001', 'DEPENDS_ON', 'R-0001')],
      ['fulfilment', 'R-0002', ({ graph }) => graph.add('Requirement', { ...good, id: 'R-0002' }, 'x')],
    ])('reports what breaks the rule %s, at %s', (rule, node, breakIt) =>
      onFilled(async (given) => {
        await breakIt(given);
        const { compliant, violations } = await given.run('validate_schema_compliance', { id: node });
        expect(compliant).toBe(false);
        const broken = (violations as { rule: string; node: string }[]).map((each) => [each.rule, each.node]);
        // A requirement that was put in for this test alone is fulfilled by nothing either.
        const besides = broken.filter(([name]) => name !== rule);
        expect(broken).toContainEqual([rule, node]);
        expect(besides).toEqual(['id', 'name', 'text', 'type'].includes(rule) ? [['fulfilment', node]] : []);
      }),
    );

    it('finds circles, and not what lies between two of them', () =>
      inGraph(async (given) => {
        for (const id of ['R-0001', 'R-0002', 'R-0003', 'R-0004', 'R-0005'])
          await given.graph.add('Requirement', { ...good, id, name: id }, id);
        for (const [from, to] of ['12', '21', '23', '34', '45', '54'])
          await relate(given, `R-000${from}`, 'REFINES', `R-000${to}`);
        const { violations } = await given.run('validate_schema_compliance');
        const found = (violations as { rule: string; node: string }[]).filter(({ rule }) => rule === 'loop');
        expect(found.map(({ node }) => node).sort()).toEqual(['R-0001', 'R-0002', 'R-0004', 'R-0005']);
      }));

    it('says where there is no such node', () =>
      inGraph(async ({ run }) => {
        await expect(run('validate_schema_compliance', { id: 'R-9999' })).rejects.toThrow(/no node R-9999/);
      }));
  });

  describe('create_requirement_node (D-T35)', () => {
    it('puts the node into the graph once, also where the call comes again', () =>
      inGraph(async ({ graph, run }) => {
        expect(await run('create_requirement_node', requirement, 'k')).toEqual({ id: 'R-0001', label: 'Requirement' });
        expect(await run('create_requirement_node', requirement, 'k')).toMatchObject({ id: 'R-0001' });
        expect((await graph.nodes('Requirement')).map(({ properties }) => properties)).toEqual([
          {
            id: 'R-0001',
            name: 'Invoice retention',
            text,
            type: 'compliance',
            priority: 'medium',
            gobd_relevant: false,
            citations: [],
          },
        ]);
      }));

    it('refuses an id that is there, and one that is none', () =>
      inGraph(async ({ graph, run }) => {
        await run('create_requirement_node', requirement);
        await expect(run('create_requirement_node', { ...requirement, name: 'Another' })).rejects.toThrow(
          ToolUserError,
        );
        await expect(run('create_requirement_node', { ...requirement, id: 'r1' })).rejects.toThrow(ToolInputError);
        expect((await graph.find(null, 'R-0001'))?.properties['name']).toBe('Invoice retention');
      }));
  });

  describe('create_fulfillment_relationship (D-T36)', () => {
    const stated = { requirement: 'R-0001', fulfilled_by: 'M-ARCHIVED', kind: 'message' };

    it('relates the two once', () =>
      onFilled(async ({ run, ask }) => {
        const edge = { type: 'FULFILLED_BY_MESSAGE', from: 'R-0001', to: 'M-ARCHIVED' };
        expect(await run('create_fulfillment_relationship', stated)).toEqual({ ...edge, created: true });
        expect(await run('create_fulfillment_relationship', stated)).toEqual({ ...edge, created: false });
        expect(await ask('MATCH (r)-[f:FULFILLED_BY_MESSAGE]->(m) RETURN r.id, m.id')).toEqual([
          ['R-0001', 'M-ARCHIVED'],
        ]);
      }));

    it('refuses an end that is missing, or of another kind', () =>
      onFilled(async ({ run }) => {
        const state = (changes: object) => run('create_fulfillment_relationship', { ...stated, ...changes });
        await expect(state({ requirement: 'R-0099' })).rejects.toThrow(/no requirement R-0099/);
        await expect(state({ fulfilled_by: 'M-NONE' })).rejects.toThrow(/no Message M-NONE/);
        await expect(state({ kind: 'business_object' })).rejects.toThrow(/no BusinessObject M-ARCHIVED/);
      }));
  });

  it('generate_requirement_id gives R-dddd, a new one each time, the same to a call that comes again (D-T37)', () =>
    onFilled(async ({ run }) => {
      const ids = await Promise.all(Array.from({ length: 20 }, () => run('generate_requirement_id')));
      const found = ids.map(({ id }) => id);
      expect(new Set(found).size).toBe(20);
      for (const id of found) expect(id).toMatch(/^R-\d{4}$/);
      expect(found).not.toContain('R-0001');
      const first = await run('generate_requirement_id', {}, 'a key');
      expect(await run('generate_requirement_id', {}, 'a key')).toEqual(first);
    }));

  it('get_entity_relationships gives what leads from a node and to it (D-T38)', () =>
    onFilled(async ({ run }) => {
      const at = { id: 'BO-INVOICE', label: 'BusinessObject' };
      const { relationships, ...node } = await run('get_entity_relationships', { id: 'Invoice' });
      expect(node).toEqual(at);
      expect(relationships).toEqual(
        expect.arrayContaining([
          {
            type: 'FULFILLED_BY_OBJECT',
            direction: 'in',
            id: 'R-0001',
            name: 'Invoice retention',
            label: 'Requirement',
          },
          { type: 'USES_OBJECT', direction: 'in', id: 'M-ARCHIVED', name: 'InvoiceArchived', label: 'Message' },
        ]),
      );
      expect(relationships).toHaveLength(2);
      expect(await run('get_entity_relationships', { id: 'R-0001' })).toMatchObject({
        relationships: [{ direction: 'out', id: 'BO-INVOICE' }],
      });
      await expect(run('get_entity_relationships', { id: 'none' })).rejects.toThrow(/no node none/);
    }));

  it('count_graph_statistics counts by label and type (D-T39)', () =>
    onFilled(async ({ run }) => {
      expect(await run('count_graph_statistics')).toEqual({
        nodes: 4,
        relationships: 2,
        by_label: [
          { label: 'BusinessObject', count: 2 },
          { label: 'Message', count: 1 },
          { label: 'Requirement', count: 1 },
        ],
        by_type: [
          { type: 'FULFILLED_BY_OBJECT', count: 1 },
          { type: 'USES_OBJECT', count: 1 },
        ],
      });
    }));
}

async function relate({ graph }: InGraph, from: string, type: string, to: string): Promise<void> {
  const [source, target] = [await graph.find(null, from), await graph.find(null, to)];
  if (source === undefined || target === undefined) throw new Error(`no ${from} or ${to}`);
  await graph.relate(source, type, target, {});
}
