import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Configuration } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import type { ToolContract } from '@sluice/tools';
import { requireGraph, RequirementGraphs } from '../apps/executor/src/requirement-graphs.js';
import { ScriptedModel, startSystem } from './harness/system.js';

const configuration = readFileSync('examples/requirements/sluice.yaml', 'utf8');
const path = 'cash-register.txt';
const text = 'The register must record every transaction completely and without gaps.';

type Call = readonly [tool: string, args: (seen: Seen) => object];
type Seen = (tool: string) => Record<string, unknown>;

/** Each call is made of what the ones before gave. */
const calls: readonly Call[] = [
  ['identify_requirement_candidates', () => ({ path, min_confidence: 0.8 })],
  [
    'cite_document',
    (seen) => ({
      path,
      quote: (seen('identify_requirement_candidates')['candidates'] as { text: string }[] | undefined)?.[0]?.text,
    }),
  ],
  ['assess_gobd_relevance', () => ({ text })],
  [
    'write_requirement_to_cache',
    (seen) => ({ text, name: 'Complete records', req_type: 'compliance', citations: [seen('cite_document')['id']] }),
  ],
  ['check_for_duplicates', () => ({ text })],
  ['generate_requirement_id', () => ({})],
  [
    'create_requirement_node',
    (seen) => ({
      id: seen('generate_requirement_id')['id'],
      name: 'Complete records',
      text,
      req_type: 'compliance',
      citations: [seen('cite_document')['id']],
    }),
  ],
  ['resolve_business_object', () => ({ mention: 'transactions' })],
  [
    'create_fulfillment_relationship',
    (seen) => ({
      requirement: seen('create_requirement_node')['id'],
      fulfilled_by: seen('resolve_business_object')['id'],
      kind: 'business_object',
    }),
  ],
  ['validate_schema_compliance', () => ({})],
  ['query_similar_requirements', () => ({ text })],
  ['execute_cypher_query', () => ({ query: 'MATCH (r)-[:FULFILLED_BY_OBJECT]->(o) RETURN r.id, r.citations, o.name' })],
];

const model = new ScriptedModel(({ history }) => {
  const seen: Seen = (tool) =>
    JSON.parse(history.findLast(({ action }) => action === tool)?.observation ?? '{}') as Record<string, unknown>;
  const call = calls[history.length];
  return call === undefined
    ? { answer: 'One requirement is in the graph.' }
    : { calls: [[`core__${call[0]}`, JSON.stringify(call[1](seen))]] };
});

describe('examples/requirements', () => {
  it('takes a document to a requirement that is cited, checked, and in the graph, also over a restart', async () => {
    let system = await startSystem(configuration, model);
    try {
      const run = async (): Promise<ReadonlyMap<string, Record<string, unknown>>> => {
        const { requestId, answer } = await system.ask({ group: ['creator', 'validator'] });
        expect(answer).toBe('One requirement is in the graph.');
        const steps = (await system.all('agent.steps')).filter(({ record }) => record.requestId === requestId);
        const all = steps.flatMap(({ record }) => record.steps);
        expect(all.map(({ action, outcome }) => [action, outcome])).toEqual(calls.map(([tool]) => [tool, 'ok']));
        return new Map(
          all.map(({ action, observation }) => [action, JSON.parse(observation) as Record<string, unknown>]),
        );
      };
      const first = await run();
      expect(first.get('cite_document')).toMatchObject({
        id: 'C-0001',
        quote: expect.stringContaining(text),
        source: { location: path },
      });
      expect(first.get('write_requirement_to_cache')).toMatchObject({ id: 'Q-0001', created: true });
      expect(first.get('check_for_duplicates')).toMatchObject({ is_duplicate: false });
      expect(first.get('validate_schema_compliance')).toMatchObject({ compliant: true, violations: [] });
      expect(first.get('query_similar_requirements')).toMatchObject({ requirements: [{ id: 'R-0001' }] });
      expect(first.get('execute_cypher_query')).toMatchObject({ rows: [['R-0001', ['C-0001'], 'Transaction']] });
      system = await system.restart();
      const second = await run();
      expect(second.get('cite_document')).toMatchObject({ id: 'C-0001' });
      expect(second.get('check_for_duplicates')).toMatchObject({ is_duplicate: true, duplicates: [{ id: 'R-0001' }] });
      expect(second.get('generate_requirement_id')).toEqual({ id: 'R-0002' });
      // The same name twice is against the metamodel.
      expect(second.get('validate_schema_compliance')).toMatchObject({ compliant: false, total: 1 });
    } finally {
      await system.close();
    }
  });

  it('has two profiles: a creator reads and submits, a validator has the graph in place of documents and cache (D-T42, XD-1)', async () => {
    // The knowledge graph’s two tools are of the category graph as well.
    const named = builtInTools.filter(({ type }) => !type.includes('-'));
    const byPack = Map.groupBy(named, ({ category }) => category);
    const of = (...packs: string[]) =>
      packs.flatMap((pack) => byPack.get(pack)?.map(({ type }) => `core__${type}`) ?? []);
    const both = ['workspace', 'todo', 'search', 'citation', 'completion'];
    const profiles = {
      creator: of(...both, 'document', 'cache'),
      validator: of(...both, 'graph'),
    };
    const offered: string[][] = [];
    const answering = new ScriptedModel(({ tools }) => {
      offered.push(tools.map(({ id }) => id));
      return { answer: 'done' };
    });
    const system = await startSystem(configuration, answering);
    try {
      await system.ask({ group: ['creator'] });
      await system.ask({ group: ['validator'] });
      await system.ask({ group: ['creator', 'validator'] });
      expect(offered.map(({ length }) => length)).toEqual([28, 34, 40]);
      expect(offered[0]?.toSorted()).toEqual(profiles.creator.toSorted());
      expect(offered[1]?.toSorted()).toEqual(profiles.validator.toSorted());
    } finally {
      await system.close();
    }
  });

  it('documents each of the 40 tools, for both profiles in the folder tools of their workspaces (D-01, D-19)', async () => {
    const reading = new ScriptedModel(({ history }) =>
      history.length > 0
        ? { answer: history[0]?.observation ?? '' }
        : { calls: [['core__list_files', JSON.stringify({ path: 'tools' })]] },
    );
    const system = await startSystem(configuration, reading);
    try {
      for (const [group, count] of [
        ['creator', 28],
        ['validator', 34],
      ] as const) {
        const { answer } = await system.ask({ group: [group] });
        const { entries } = JSON.parse(answer ?? '') as { entries: { name: string }[] };
        const pages = entries.map(({ name }) => name).filter((page) => !page.endsWith('README.md'));
        expect([group, pages.length]).toEqual([group, count]);
        expect(entries).toHaveLength(count + 1);
      }
    } finally {
      await system.close();
    }
  });

  it('lists the tools by the eight categories and no other (D-T41, XD-2)', async () => {
    const reading = new ScriptedModel(({ history }) =>
      history.length > 0
        ? { answer: history[0]?.observation ?? '' }
        : { calls: [['core__read_file', JSON.stringify({ path: 'tools/README.md' })]] },
    );
    const system = await startSystem(configuration, reading);
    try {
      const { answer } = await system.ask({ group: ['creator', 'validator'] });
      const { text: index } = JSON.parse(answer ?? '') as { text: string };
      expect([...index.matchAll(/^### (.+) Tools$/gm)].map(([, heading]) => heading?.toLowerCase()).toSorted()).toEqual(
        ['workspace', 'todo', 'document', 'search', 'citation', 'cache', 'graph', 'completion'].toSorted(),
      );
      expect([...index.matchAll(/^- \*\*\[/gm)]).toHaveLength(40);
    } finally {
      await system.close();
    }
  });

  it('has commands in its README that run as they are written, and say what they should', async () => {
    const readme = readFileSync('examples/requirements/README.md', 'utf8');
    const [block = ''] = readme.split('## With a model')[0]?.match(/```sh\n[\s\S]*?```/) ?? [];
    const commands = [...block.matchAll(/^npx sluice call (\w+) '(.*)' --group (\w+)$/gm)];
    expect(commands).toHaveLength(10);
    const system = await startSystem(configuration, model);
    try {
      for (const [, tool = '', args = '', group = ''] of commands) {
        const { requestId, kind, error } = await system.ask({
          group: [group],
          call: { tool: `core__${tool}`, arguments: args, order: null },
        });
        const steps = (await system.all('agent.steps')).filter(({ record }) => record.requestId === requestId);
        const [step] = steps.flatMap(({ record }) => record.steps);
        expect([tool, kind, error, step?.outcome, step?.observation]).toEqual([
          tool,
          'answer',
          null,
          'ok',
          expect.any(String),
        ]);
        if (tool === 'execute_cypher_query')
          expect(JSON.parse(step?.observation ?? '')).toMatchObject({ rows: [['R-0001', 'Transaction']] });
      }
    } finally {
      await system.close();
    }
  });
});

describe('the graphs of an executor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-graphs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const settings = (graph?: Configuration['graph']): Configuration =>
    ({
      tools: [{ id: 'core__count', type: 'count_graph_statistics' }],
      policy: { allowedTools: ['core__count'] },
      ...(graph === undefined ? {} : { graph }),
    }) as unknown as Configuration;
  const contracts = [{ type: 'count_graph_statistics', capabilities: ['graph'] }] as unknown as readonly ToolContract[];

  it('are one a tenant, and go on after others took their place', async () => {
    const lines: unknown[] = [];
    const environment = { bus: 'sqlite', dataFolder: folder };
    const log = { error: (...line: unknown[]) => lines.push(line) };
    const graphs = new RequirementGraphs({ environment, log } as unknown as ConstructorParameters<
      typeof RequirementGraphs
    >[0]);
    const tenants = Array.from({ length: 40 }, (_, n) => `tenant ${n}`);
    const held = graphs.of(settings(), 'tenant 0');
    for (const tenant of tenants) await graphs.of(settings(), tenant).add('Message', { id: tenant, name: tenant }, 'a');
    for (const tenant of tenants)
      expect((await graphs.of(settings(), tenant).nodes(null)).map(({ properties }) => properties.id)).toEqual([
        tenant,
      ]);
    expect(await held.nodes(null)).toHaveLength(1);
    await held.close();
    const missing = { folder: null, load: [join(folder, 'none.json')] };
    expect(() => graphs.of(settings(missing), 't')).toThrow(/cannot be opened/);
    expect(lines).toEqual([[{ error: expect.stringContaining('none.json') }, expect.any(String)]]);
    await graphs.close();
  });

  it('are in a database of each tenant that graph.neo4j names, and no other tenant has one', async () => {
    const lines: unknown[] = [];
    const environment = { bus: 'kafka', dataFolder: folder, secret: () => 'a password' };
    const log = { error: (...line: unknown[]) => lines.push(line) };
    const graphs = new RequirementGraphs({ environment, log } as unknown as ConstructorParameters<
      typeof RequirementGraphs
    >[0]);
    const neo4j = {
      ...{
        url: 'bolt://127.0.0.1:1',
        user: 'neo4j',
        passwordEnv: 'PASSWORD',
        databases: { acme: 'acme' },
        caFile: null,
      },
      ...{ connectMs: 1_000, queryMs: 1_000, pool: 1, writeQueries: false },
    };
    const served = settings({ folder: null, load: [], neo4j });
    for (const tenant of ['other', 'constructor'])
      expect(() => graphs.of(served, tenant)).toThrow('no graph of requirements for this tenant');
    await expect(graphs.of(served, 'acme').nodes(null)).rejects.toThrow('The graph cannot be used.');
    expect(lines).toEqual([[{ tenant: 'acme', error: expect.stringContaining('127.0.0.1:1') }, expect.any(String)]]);
    await graphs.close();
    expect(() => requireGraph(served, contracts, environment as Parameters<typeof requireGraph>[2])).not.toThrow();
    const unset = { ...environment, secret: () => undefined } as Parameters<typeof requireGraph>[2];
    expect(() => requireGraph(served, contracts, unset)).toThrow(/PASSWORD .* is not set, .*core__count/);
  });

  it('need a folder of this machine on Kafka, that can be written, and files that can be read', () => {
    const place = { bus: 'kafka', dataFolder: folder, secret: () => undefined } as const;
    const check = (graph?: Configuration['graph']) => () => requireGraph(settings(graph), contracts, place);
    expect(check()).toThrow(/graph\.folder is not set.*core__count.*one machine/);
    const file = join(folder, 'a file');
    writeFileSync(file, '{');
    expect(check({ folder: join(file, 'graphs'), load: [] })).toThrow(/cannot be written.*Set graph\.folder/);
    expect(check({ folder: join(folder, 'graphs'), load: [file] })).toThrow(/a file cannot be read/);
    expect(check({ folder: join(folder, 'graphs'), load: [] })).not.toThrow();
    expect(() => requireGraph({ ...settings(), tools: [] }, contracts, place)).not.toThrow();
  });
});
