import neo4j from 'neo4j-driver';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { openNeo4jGraph, readGraphFiles } from '@sluice/packs';
import type { Neo4jGraphSettings, ServedGraph } from '@sluice/packs';
import type { GraphFile } from '../libs/packs/src/graph/files.js';
import { onGraph } from '../libs/packs/test/graph/in-graph.js';
import type { InGraph } from '../libs/packs/test/graph/in-graph.js';
import { describeGraphTools } from '../libs/packs/test/graph/tools-suite.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { infra, own, startTimeout } from './infra/client.ts';
import type { Owned } from './infra/client.ts';

let place: Neo4jGraphSettings;

function settingsOf(neo4jUrl: string): Neo4jGraphSettings {
  const { protocol, host, username, password } = new URL(neo4jUrl);
  return {
    ...{ url: `${protocol}//${host}`, user: username, passwordEnv: 'NEO4J_PASSWORD', password: () => password },
    ...{
      database: 'neo4j',
      caFile: null,
      connectMs: 5_000,
      queryMs: 30_000,
      pool: 10,
      writeQueries: false,
      report: () => undefined,
    },
  };
}

/** Statements past the store. */
async function run(...statements: readonly string[]): Promise<readonly (readonly unknown[])[]> {
  const { url, user, password, database } = place;
  const driver = neo4j.driver(url, neo4j.auth.basic(user, password() ?? ''), { disableLosslessIntegers: true });
  try {
    const found: unknown[][] = [];
    for (const each of statements) {
      const { records } = await driver.executeQuery(each, {}, { database });
      found.push(...records.map((record) => [...record.values()]));
    }
    return found;
  } finally {
    await driver.close();
  }
}

const empty = async (): Promise<void> => void (await run('MATCH (n) DETACH DELETE n'));

beforeAll(async () => {
  place = settingsOf((await infra('neo4j')).neo4jUrl);
  const [[nodes] = []] = await run('MATCH (n) RETURN count(n)');
  if (nodes !== 0)
    throw new Error(`The database ${place.database} at ${place.url} is not empty, and this test removes all there is.`);
}, startTimeout);
beforeEach(empty);
afterAll(empty);

const inNeo4j = (work: (given: InGraph) => Promise<void>, changes: Partial<Neo4jGraphSettings> = {}): Promise<void> =>
  onGraph((begin) => openNeo4jGraph({ ...place, ...changes }, begin), work);

describe('a graph in Neo4j', () => describeGraphTools((work) => inNeo4j(work)));

describe('the store in Neo4j', () => {
  it('gives no number twice to connections that ask at once, and none that a node has (D-T37)', () =>
    inNeo4j(async ({ graph, again }) => {
      await graph.add('Requirement', { id: 'R-0007', name: 'Seven' }, 'x');
      const graphs = [graph, again(), again()];
      const numbers = await Promise.all(
        Array.from({ length: 30 }, (_, n) => (graphs[n % 3] ?? graph).nextNumber('Requirement', 'R-', `call ${n}`)),
      );
      expect([...numbers].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 30 }, (_, n) => n + 8));
      expect(await again().nextNumber('Requirement', 'R-', 'call 5')).toBe(numbers[5]);
    }));

  it('takes one of several nodes with one id that are made at once', () =>
    inNeo4j(async ({ graph, again }) => {
      const graphs = [graph, again(), again()];
      for (const each of graphs) await each.counts();
      const made = await Promise.all(
        Array.from({ length: 9 }, (_, n) =>
          (graphs[n % 3] ?? graph).add('Requirement', { id: 'R-0001', name: `Name ${n}` }, `call ${n}`),
        ),
      );
      expect(made.filter((each) => each)).toHaveLength(1);
      expect(await graph.nodes('Requirement')).toHaveLength(1);
    }));

  it('follows files where they change; what a tool made stays', () =>
    inNeo4j(async ({ graph, again, write }) => {
      const nodes = [
        { label: 'BusinessObject', id: 'BO-1', name: 'Invoice', aliases: ['Rechnung'] },
        { label: 'Message', id: 'MSG-1', name: 'InvoiceArchived', system: 'archive', major: 2 },
      ];
      await graph.add('Message', { id: 'MSG-1', name: 'Of a tool' }, 'a call');
      const relationships = [{ from: 'MSG-1', type: 'USES_OBJECT', to: 'BO-1' }];
      const open = (text: string) => again(readGraphFiles([write(text)]));
      await open(JSON.stringify({ nodes, relationships })).counts();
      await open(JSON.stringify({ nodes, relationships })).counts();
      const changed = open(JSON.stringify({ nodes: [{ ...nodes[0], name: 'Bill' }] }));
      expect((await changed.nodes(null)).map(({ properties }) => properties['name'])).toEqual(['Bill', 'Of a tool']);
      expect(await changed.relationships()).toHaveLength(1);
      const parallel = [1, 2, 3].map(() => again(readGraphFiles([write(JSON.stringify({ nodes, relationships }))])));
      await Promise.all(parallel.map((each) => each.counts()));
      expect(await changed.nodes(null)).toHaveLength(2);
    }));

  it('gives nodes, relationships, paths, times and numbers as JSON, and takes whole numbers for SKIP and LIMIT', () =>
    inNeo4j(async ({ ask }) => {
      await run(
        'CREATE (:Message {id: "M", at: date("2026-11-27")})-[:USES_OBJECT {since: 3}]->(:BusinessObject {id: "B", ratio: 0.5})',
      );
      expect(
        await ask(
          'MATCH p = (m:Message)-[u]->(b) RETURN m, u, p, [b.ratio, null], {a: duration("P1D"), big: 9007199254740993} LIMIT $most',
          { most: 1 },
        ),
      ).toEqual([
        [
          { labels: ['Message'], id: 'M', at: '2026-11-27' },
          { type: 'USES_OBJECT', since: 3 },
          [
            { labels: ['Message'], id: 'M', at: '2026-11-27' },
            { type: 'USES_OBJECT', since: 3 },
            { labels: ['BusinessObject'], id: 'B', ratio: 0.5 },
          ],
          [0.5, null],
          { a: 'P1D', big: JSON.rawJSON('9007199254740993') },
        ],
      ]);
      // What the embedded store does not know, the server does.
      expect(
        await ask('MATCH (m:Message) WHERE EXISTS { (m)-->(:BusinessObject) } RETURN count { (m)-->() } AS n'),
      ).toEqual([[1]]);
    }));
});

describe('the guard of execute_cypher_query in front of Neo4j (D-T28)', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['CREATE (n:Message {id: "x"})', /only reading is allowed/],
    ['MATCH (n) DETACH DELETE n', /only reading is allowed/],
    ['MATCH (n) SET n.a = 1', /only reading is allowed/],
    ['CALL db.labels()', /calls a procedure/],
    ['MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS RETURN 1', /query/],
    ['LOAD CSV FROM "file:///etc/passwd" AS line RETURN line', /LOAD/],
    ['SHOW DATABASES', /SHOW/],
    ['RETURN 1; MATCH (n) DELETE n', /several statements/],
    ['MATCH (n RETURN n', /cannot be answered: Invalid input/],
    ['RETURN $missing', /cannot be answered: Expected parameter/],
    ['', /empty/],
  ];

  it.each(refused)('refuses %j, and the graph stays as it is', (query, sentence) =>
    inNeo4j(async ({ graph, ask }) => {
      await graph.add('Message', { id: 'M', name: 'M' }, 'a');
      const failure = await ask(query).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ToolUserError);
      expect((failure as Error).message).toMatch(sentence);
      expect((await graph.nodes(null)).map(({ properties }) => properties)).toEqual([{ id: 'M', name: 'M' }]);
    }),
  );

  it('is the server’s as well: it refuses to write for a session that reads', async () => {
    const driver = neo4j.driver(place.url, neo4j.auth.basic(place.user, place.password() ?? ''));
    const session = driver.session({ defaultAccessMode: neo4j.session.READ });
    await expect(session.run('CREATE (n)')).rejects.toThrow(/read access mode/);
    await driver.close();
  });

  it('ends a query when its time is over, and one whose call is abandoned at once', () =>
    inNeo4j(
      async ({ graph, ask }) => {
        const endless =
          'UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b WITH a, b WHERE a + b = 0 RETURN count(*)';
        await expect(ask(endless)).rejects.toThrow(/takes too long/);
        const stop = new AbortController();
        const asked = graph.query(endless, {}, stop.signal, 'x');
        stop.abort(new Error('given up'));
        await expect(asked).rejects.toThrow('given up');
      },
      { queryMs: 2_000 },
    ));

  describe('where graph.neo4j.write_queries allows it', () => {
    const inWritable = (work: (given: InGraph) => Promise<void>) => inNeo4j(work, { writeQueries: true });

    it('lets a query change nodes and relationships, once for each call', () =>
      inWritable(async ({ ask, graph }) => {
        const query = 'CREATE (m:Message {id: $id, name: $id, n: 1}) RETURN m.id, m.n';
        expect(await ask(query, { id: 'M-1' }, 'a')).toEqual([['M-1', 1]]);
        expect(await ask(query, { id: 'M-1' }, 'a')).toEqual([['M-1', 1]]);
        await expect(ask(query, { id: 'M-1' }, 'b')).rejects.toThrow(/does not take it/);
        await ask('MATCH (m:Message) SET m.n = m.n + 1', {}, 'c');
        await ask('MATCH (m:Message) SET m.n = m.n + 1', {}, 'c');
        expect(await ask('MATCH (m:Message) RETURN m.n')).toEqual([[2]]);
        await ask('MATCH (m:Message) DETACH DELETE m');
        expect(await graph.nodes(null)).toEqual([]);
      }));

    it.each([
      'CREATE INDEX x FOR (n:Message) ON (n.name)',
      'CREATE USER x SET PASSWORD "12345678"',
      'CREATE CONSTRAINT FOR (n:Message) REQUIRE n.name IS UNIQUE',
      'DROP CONSTRAINT sluice_call_key',
      'CREATE OR REPLACE DATABASE x',
      'LOAD CSV FROM "file:///x" AS line CREATE (:Message {id: line[0]})',
      'CALL db.createLabel("x")',
    ])('still refuses %s', (query) => inWritable(async ({ ask }) => expect(ask(query)).rejects.toThrow(ToolUserError)));
  });
});

describe('a Neo4j that cannot be used', () => {
  let owned: Owned<'neo4j'>;
  let there: Neo4jGraphSettings;
  const opened: ServedGraph[] = [];
  const open = (changes: Partial<Neo4jGraphSettings> = {}, begin: readonly GraphFile[] = []): ServedGraph => {
    const graph = openNeo4jGraph({ ...there, connectMs: 2_000, ...changes }, begin);
    opened.push(graph);
    return graph;
  };

  beforeAll(async () => {
    owned = await own('neo4j');
    there = settingsOf(owned.address.neo4jUrl);
  }, startTimeout);
  afterAll(async () => {
    await Promise.all(opened.map((graph) => graph.close()));
    await owned.release();
  });

  it.each<[string, Partial<Neo4jGraphSettings>, RegExp]>([
    ['a wrong password', { password: () => 'another' }, /refused the user neo4j with the password in NEO4J_PASSWORD/],
    ['no password', { password: () => undefined }, /variable NEO4J_PASSWORD .* is not set/],
    ['no such database', { database: 'elsewhere' }, /has no database elsewhere: .*graph\.neo4j\.database/],
    ['nobody there', { url: 'bolt://127.0.0.1:1' }, /No Neo4j server answers at bolt:\/\/127\.0\.0\.1:1 .*start it/],
    ['no such file', { caFile: '/nowhere/ca.pem' }, /nowhere\/ca\.pem of graph\.neo4j\.ca_file cannot be read/],
  ])('says for %s what to do', async (_what, changes, sentence) => {
    const reported: string[] = [];
    const graph = open({ ...changes, report: (each) => reported.push(each) });
    expect(await graph.problem()).toMatch(sentence);
    expect(reported).toEqual([expect.stringMatching(sentence)]);
    await expect(graph.nodes(null)).rejects.toThrow(ToolUnavailableError);
    await expect(graph.nodes(null)).rejects.toThrow('The graph cannot be used.');
  });

  it('is used again when it is back, and with the password that is in force then', async () => {
    const graph = open();
    expect(await graph.problem()).toBeNull();
    await graph.add('Message', { id: 'M', name: 'M' }, 'a');
    await owned.stop();
    expect(await graph.problem()).toMatch(/No Neo4j server answers/);
    await owned.start();
    expect(await graph.nodes(null)).toHaveLength(1);
    let password = 'another';
    const changing = open({ password: () => password });
    expect(await changing.problem()).toMatch(/refused the user/);
    password = there.password() ?? '';
    expect(await changing.problem()).toBeNull();
    await changing.close();
    expect(await changing.nodes(null)).toHaveLength(1);
  });
});

describe('a configuration with graph.neo4j', () => {
  const ids = ['execute_cypher_query', 'create_requirement_node', 'generate_requirement_id'];
  const configuration = (more: object = {}): string =>
    JSON.stringify({
      tool: Object.fromEntries(ids.map((type) => [type, { type }])),
      policy: { allowed_tools: ids, approval: { none: 'a test of its own' } },
      graph: { neo4j: { url: place.url, user: place.user, ...more } },
    });
  const create = { id: 'R-0001', name: 'Complete', text: 'The register must record every transaction.' };
  const query = 'MATCH (r:Requirement) SET r.reviewed = coalesce(r.reviewed, 0) + 1 RETURN r.id';
  const model = new ScriptedModel(
    inOrder(
      { calls: [['core__create_requirement_node', JSON.stringify(create)]] },
      { calls: [['core__execute_cypher_query', JSON.stringify({ query })]] },
      { calls: [['core__execute_cypher_query', JSON.stringify({ query: 'MATCH (r) RETURN r.id, r.reviewed' })]] },
    ),
  );
  const secrets = { secret: (name: string) => (name === 'NEO4J_PASSWORD' ? place.password() : undefined) };
  const outcomes = async (system: TestSystem): Promise<readonly (readonly unknown[])[]> => {
    const { requestId } = await system.ask({});
    const steps = (await system.all('agent.steps')).filter(({ record }) => record.requestId === requestId);
    return steps.flatMap(({ record }) => record.steps).map(({ action, outcome }) => [action, outcome]);
  };

  it('works on the server, and lets a query change it only where write_queries says so (D-T28)', async () => {
    const reading = await startSystem(configuration(), model, undefined, secrets);
    try {
      expect((await outcomes(reading)).map(([, outcome]) => outcome)).toEqual(['ok', 'execution', 'ok']);
      expect(await run('MATCH (r:Requirement) RETURN r.id, r.reviewed')).toEqual([['R-0001', null]]);
    } finally {
      await reading.close();
    }
    await empty();
    const writing = await startSystem(configuration({ write_queries: true }), model, undefined, secrets);
    try {
      expect((await outcomes(writing)).map(([, outcome]) => outcome)).toEqual(['ok', 'ok', 'ok']);
      expect(await run('MATCH (r:Requirement) RETURN r.id, r.reviewed')).toEqual([['R-0001', 1]]);
    } finally {
      await writing.close();
    }
  });

  it('does not start without the password, and starts while the server is away, which the log says', async () => {
    await expect(startSystem(configuration(), model)).rejects.toThrow(/NEO4J_PASSWORD .* is not set/);
    const system = await startSystem(
      configuration({ url: 'bolt://127.0.0.1:1', connect_seconds: 1 }),
      model,
      undefined,
      secrets,
    );
    try {
      expect(await outcomes(system)).toEqual([
        ['create_requirement_node', expect.not.stringMatching(/^ok$/)],
        ['execute_cypher_query', expect.not.stringMatching(/^ok$/)],
        ['execute_cypher_query', expect.not.stringMatching(/^ok$/)],
      ]);
      const lines = await system.lines();
      expect(lines).toContainEqual(
        expect.objectContaining({
          tenant: 'local',
          error: expect.stringMatching(/No Neo4j server answers at bolt:\/\/127\.0\.0\.1:1/),
        }),
      );
    } finally {
      await system.close();
    }
  });
});
