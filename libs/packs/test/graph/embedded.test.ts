import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { readGraphFiles } from '../../src/graph/files.js';
import type { GraphFile } from '../../src/graph/files.js';
import { requireReading } from '../../src/graph/read-only.js';
import { isDuplicate, similarity } from '../../src/graph/similarity.js';
import { inGraph } from './in-graph.js';

const fromSource = [
  '--experimental-transform-types',
  '--disable-warning=ExperimentalWarning',
  `--import=${join(import.meta.dirname, '../../../../test/process/typescript.mjs')}`,
];
const list = Array.from({ length: 60 }, (_, n) => n).join(', ');

describe('the read-only guard', () => {
  it.each([
    'CREATE (n)',
    'MATCH (n) SET n.a = 1',
    'MATCH (n) /* x */ DETACH DELETE n',
    'CALL dbms.killAll()',
    'CALL db.labels() YIELD label RETURN label',
    'RETURN 1; MATCH (n) DELETE n',
    'MATCH (n) RETURN "a\\u0022',
  ])('refuses %j', (query) => expect(() => requireReading(query)).toThrow(/query/));
  it.each([
    "MATCH (n:CREATE {set: 'DELETE n'}) RETURN n.delete",
    'RETURN 1 // CREATE',
    'MATCH (`SET`) RETURN `SET`',
    'RETURN 1;',
  ])('lets %j pass', (query) => expect(() => requireReading(query)).not.toThrow());
});

it('takes 0.95 and more for a duplicate (D-T31, XD-8)', () => {
  const words = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, n) => String.fromCharCode(0x4e00 + from + n)).join(' ');
  const scores = [949, 950, 951].map((shared) => similarity(words(0, 1_000), words(1_000 - shared, 2_000 - shared)));
  expect(scores).toEqual([0.949, 0.95, 0.951]);
  expect(scores.map(isDuplicate)).toEqual([false, true, true]);
});

describe('the embedded graph', () => {
  it('keeps nodes and relationships, and answers queries of them', () =>
    inGraph(async ({ graph, ask }) => {
      expect(await graph.add('Requirement', { id: 'R-0001', name: 'Keep' }, 'a')).toBe(true);
      expect(await graph.add('Requirement', { id: 'R-0001', name: 'Keep' }, 'a')).toBe(true);
      expect(await graph.add('Requirement', { id: 'R-0001', name: 'Other' }, 'b')).toBe(false);
      await graph.add('BusinessObject', { id: 'BO-1', name: 'Invoice' }, 'c');
      const [from, to] = [await graph.find('Requirement', 'R-0001'), await graph.find(null, 'Invoice')];
      if (from === undefined || to === undefined) throw new Error('not found');
      expect(await graph.relate(from, 'FULFILLED_BY_OBJECT', to, {})).toBe(true);
      expect(await graph.relate(from, 'FULFILLED_BY_OBJECT', to, {})).toBe(false);
      const query = 'MATCH (r:Requirement)-[f:FULFILLED_BY_OBJECT]->(o {name: $name}) RETURN r.id, type(f), o.name';
      expect(await ask(query, { name: 'Invoice' })).toEqual([['R-0001', 'FULFILLED_BY_OBJECT', 'Invoice']]);
      await expect(ask('MATCH (n) RETURN labels(n)[0] AS l')).rejects.toThrow(/use head\(\)/);
      expect(
        await ask('MATCH (n) WITH n.name AS name, count(*) AS c WHERE c > 0 RETURN name, c ORDER BY name DESC LIMIT 1'),
      ).toEqual([['Keep', 1]]);
      expect(await ask('MATCH (o:BusinessObject) WHERE NOT (o)-->() RETURN count(o)')).toEqual([[1]]);
      expect(await ask('MATCH (o:BusinessObject) OPTIONAL MATCH (o)-[:NONE]->(n) RETURN o.name, n.name')).toEqual([
        ['Invoice', null],
      ]);
    }));

  it.each([
    ['a text that doubles', `WITH 'ab' AS s ${'WITH s + s AS s '.repeat(40)} RETURN s`],
    ['a list that doubles', `WITH [1] AS s ${'WITH [s, s] AS s '.repeat(40)} RETURN s`],
    ['a text that is replaced by a longer one', `WITH '${'a'.repeat(5_000)}' AS s RETURN replace(s, 'a', s)`],
    ['patterns within patterns', `MATCH (x) WHERE ${'(a)--(b {x: '.repeat(45)}1${'})'.repeat(45)} RETURN x, `],
    ['rows by rows', `UNWIND [${list}] AS a UNWIND [${list}] AS b UNWIND [${list}] AS c RETURN a`],
    ['ways through all nodes', 'MATCH (a)-[*]-(b)-[*]-(c)-[*]-(d) RETURN count(*)'],
    ['parentheses', `RETURN ${'('.repeat(3_000)}1${')'.repeat(3_000)}`],
    ['an integer of more than 64 bits', 'RETURN 9223372036854775807 + 1'],
    ['what does not end', "MATCH (n) WHERE n.name = 'a RETURN n"],
    ['a query without an answer', 'MATCH (n)'],
    ['a parameter that is not given', 'MATCH (n) WHERE n.id = $constructor RETURN n'],
  ])('refuses %s with a sentence, soon', (_what, query) =>
    inGraph(async ({ again, ask }) => {
      const nodes = Array.from({ length: 30 }, (_, n) => ({ label: 'Message', id: `M${n}`, name: `M ${n}` }) as const);
      const relationships = nodes.flatMap(({ id: from }) =>
        nodes.slice(0, 10).map(({ id: to }) => ({ from, type: 'USES_OBJECT', to })),
      );
      await again([{ path: '', nodes, relationships } as unknown as GraphFile]).counts();
      const begun = performance.now();
      await expect(ask(query)).rejects.toThrow(ToolUserError);
      expect(performance.now() - begun).toBeLessThan(5_000);
    }),
  );

  it('keeps and computes integers of 64 bits exactly', () =>
    inGraph(async ({ again, ask, run, write }) => {
      const node = '{ "label": "Message", "id": "M", "name": "M", "big": 9007199254740993, "ratio": 0.50 }';
      const files = readGraphFiles([write(`{ "nodes": [${node}] }`)]);
      await again(files).counts();
      const asked = async (query: string): Promise<string> => JSON.stringify(await ask(query));
      expect(await asked('MATCH (m) RETURN m.big, m.big + 1, -m.big, m.ratio, toString(m.big), m.big - m.big')).toBe(
        '[[9007199254740993,9007199254740994,-9007199254740993,0.5,"9007199254740993",0]]',
      );
      expect(await asked('MATCH (m) RETURN m')).toContain('"big":9007199254740993');
      expect(await asked('RETURN 9007199254740993, 9007199254740991 + 2, 3000000019 * 3000000019, 7 / 2')).toBe(
        '[[9007199254740993,9007199254740993,9000000114000000361,3.5]]',
      );
      expect(await asked('MATCH (m {big: 9007199254740993}) WHERE m.big > 9007199254740992 RETURN count(m)')).toBe(
        '[[1]]',
      );
      expect(await asked('UNWIND [9007199254740993, 9007199254740992, 1] AS n RETURN sum(n), max(n), collect(n)')).toBe(
        '[[18014398509481986,9007199254740993,[9007199254740993,9007199254740992,1]]]',
      );
      expect(await asked("RETURN toInteger('9007199254740993'), toInteger('x'), abs(0 - 9007199254740993)")).toBe(
        '[[9007199254740993,null,9007199254740993]]',
      );
      expect(JSON.stringify(await run('execute_cypher_query', { query: 'MATCH (m) RETURN m.big' }))).toContain(
        '[[9007199254740993]]',
      );
      expect(() =>
        readGraphFiles([write('{"nodes":[{"label":"Message","id":"N","name":"N","n":9223372036854775808}]}')]),
      ).toThrow(/nodes\.0\.n/);
    }));

  it.each([
    ["MATCH (n) RETURN CASE WHEN n.name = 'a' THEN 1 ELSE 2 END AS x", /has no CASE: filter with WHERE/],
    ["MATCH (n) RETURN CASE n.name WHEN 'a' THEN 1 END", /has no CASE/],
    ['MATCH (n) WHERE n.name =~ "a.*" RETURN n', /has no regular expressions: use CONTAINS/],
    ['MATCH (n) RETURN {a: 1}', /has no maps/],
    ['MATCH (n) WHERE EXISTS { (n)-->() } RETURN n', /no subqueries in braces/],
    ['RETURN 1 AS a UNION RETURN 2 AS a', /has no UNION/],
    ['MATCH (n) RETURN [x IN [1, 2] WHERE x > 1]', /no condition within a list/],
    ['MATCH (n) RETURN [x IN [1, 2] | x + 1]', /no list made from a list/],
    ['MATCH (n) RETURN labels(n)[0] AS l', /no element or part of a list .*character 27/],
  ])('says what it lacks: %s', (query, sentence) =>
    inGraph(async ({ ask }) => expect(ask(query)).rejects.toThrow(sentence)),
  );

  it('has variables that are named as a word it lacks', () =>
    inGraph(async ({ ask }) => expect(await ask('UNWIND [1] AS case RETURN case, case + 1')).toEqual([[1, 2]])));

  it('gives no number twice, whichever connection asks, and none that a node has (D-T37)', () =>
    inGraph(async ({ graph, again }) => {
      await graph.add('Requirement', { id: 'R-0007', name: 'Seven' }, 'x');
      const other = again();
      const numbers = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          (n % 2 === 0 ? graph : other).nextNumber('Requirement', 'R-', `call ${n}`),
        ),
      );
      expect([...numbers].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 60 }, (_, n) => n + 8));
      expect(await again().nextNumber('Requirement', 'R-', 'call 5')).toBe(numbers[5]);
    }));

  it('gives no number twice to processes that ask at once (D-T37)', () =>
    inGraph(async ({ file }) => {
      const run = promisify(execFile);
      const module = join(import.meta.dirname, '../../src/graph/embedded.ts');
      const script = `import { openEmbeddedGraph } from ${JSON.stringify(module)};
        const graph = openEmbeddedGraph(process.argv[1]); const found = [];
        for (let n = 0; n < 50; n++) found.push(await graph.nextNumber('Requirement', 'R-', process.pid + ' ' + n));
        console.log(JSON.stringify(found));`;
      const outputs = await Promise.all(
        [0, 1].map(() => run(process.execPath, [...fromSource, '--input-type=module', '-e', script, file])),
      );
      const numbers = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
      expect(numbers).toHaveLength(100);
      expect(new Set(numbers).size).toBe(100);
    }));

  it('opens again after it was closed, and says what is wrong with its file', () =>
    inGraph(async ({ graph, file }) => {
      await graph.add('Message', { id: 'M', name: 'M' }, 'a');
      await graph.close();
      expect(await graph.nodes(null)).toHaveLength(1);
      await graph.close();
      writeFileSync(file, 'This is no database, whatever its name says. '.repeat(50));
      rmSync(`${file}-wal`, { force: true });
      await expect(graph.nodes(null)).rejects.toThrow(ToolUnavailableError);
    }));
});

describe('the files that a graph begins with', () => {
  const nodes = [
    { label: 'BusinessObject', id: 'BO-1', name: 'Invoice', aliases: ['Rechnung'] },
    { label: 'Message', id: 'MSG-1', name: 'InvoiceArchived', system: 'archive' },
  ];

  it('are followed where they change; what a tool made stays', () =>
    inGraph(async ({ graph, again, write }) => {
      await graph.add('Message', { id: 'MSG-1', name: 'Of a tool' }, 'a call');
      const relationships = [{ from: 'MSG-1', type: 'USES_OBJECT', to: 'BO-1' }];
      const open = (text: string) => again(readGraphFiles([write(text)]));
      await open(JSON.stringify({ nodes, relationships })).counts();
      const changed = open(JSON.stringify({ nodes: [{ ...nodes[0], name: 'Bill' }] }));
      expect((await changed.nodes(null)).map(({ properties }) => properties['name'])).toEqual(['Of a tool', 'Bill']);
      expect(await changed.relationships()).toHaveLength(1);
    }));

  it.each([
    ['{', /cannot be read/],
    ['[]', /cannot be used/],
    [JSON.stringify({ nodes: [{ ...nodes[0], label: 'Thing' }] }), /nodes\.0\.label/],
    [JSON.stringify({ nodes: [{ label: 'Message', id: '' }] }), /nodes\.0\.id/],
    [JSON.stringify({ relationships: [{ from: 'a', type: 'KNOWS', to: 'b' }] }), /relationships\.0\.type/],
    [JSON.stringify({ nodes, relationships: [{ from: 'MSG-1', type: 'USES_OBJECT', to: 'BO-2' }] }), /relates BO-2/],
  ])('are refused with a sentence: %s', (text, sentence) =>
    inGraph(async ({ write }) => expect(() => readGraphFiles([write(text)])).toThrow(sentence)),
  );
});
