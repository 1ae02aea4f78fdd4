import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import type { CompilerInputs } from '@sluice/configuration';
import { sampleInputs } from './sample-inputs.js';

const types: CompilerInputs['types'] = [
  {
    type: 'execute_cypher_query',
    description: 'Asks.',
    shortDescription: 'Asks, in short.',
    inputSchema: { type: 'object', properties: {} },
    effect: 'read_only',
    redaction: { whole: true },
    repeatable: true,
  },
];

const compile = (graph: unknown, isSet?: (variable: string) => boolean) =>
  compileConfiguration(
    { tool: { ask: { type: 'execute_cypher_query' } }, policy: { allowed_tools: ['ask'] }, graph },
    { ...sampleInputs, types, ...(isSet === undefined ? {} : { isSet }) },
  );
const url = 'neo4j+s://graph.example:7687';

describe('graph.neo4j', () => {
  it('has a database for each tenant that is named, and without names one for the tenant local', () => {
    expect(compile({ neo4j: { url } }).configuration?.graph).toEqual({
      folder: null,
      load: [],
      neo4j: {
        ...{ url, user: 'neo4j', passwordEnv: 'NEO4J_PASSWORD', databases: { local: 'neo4j' }, caFile: null },
        ...{ connectMs: 5_000, queryMs: 10_000, pool: 10, writeQueries: false },
      },
    });
    const databases = (neo4j: object) => compile({ neo4j: { url, ...neo4j } }).configuration?.graph?.neo4j?.databases;
    expect(databases({ databases: { acme: 'acme' } })).toEqual({ acme: 'acme' });
    expect(databases({ database: 'own', databases: { acme: 'acme' } })).toEqual({ local: 'own', acme: 'acme' });
  });

  it('gives the query the effect of a change where it may write, by which policy decides (D-T28)', () => {
    const [reading] = compile({ neo4j: { url } }).configuration?.tools ?? [];
    const [writing] = compile({ neo4j: { url, write_queries: true } }).configuration?.tools ?? [];
    expect([reading?.spec?.effect, reading?.spec?.description]).toEqual(['read_only', 'Asks.']);
    expect([writing?.spec?.effect, writing?.spec?.description]).toEqual([
      'state_change',
      expect.stringContaining('SET'),
    ]);
    expect(writing?.shortDescription).toContain('change');
  });

  it('says where the variable with the password is not set', () => {
    const { findings } = compile({ neo4j: { url, password_env: 'GRAPH_PASSWORD' } }, () => false);
    expect(findings).toContainEqual({
      ...{ kind: 'unset_variable', path: 'graph.neo4j.password_env' },
      message: expect.stringContaining('GRAPH_PASSWORD is not set here'),
    });
  });
});
