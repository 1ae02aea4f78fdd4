import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { builtInTools } from '@sluice/packs';
import { startSparqlServer } from '../../libs/packs/test/sparql-server.js';
import type { SparqlServer } from '../../libs/packs/test/sparql-server.js';
import { inOrder, ScriptedModel } from '../harness/system.js';
import { startWithTools } from '../harness/with-tools.js';

const sparql = 'SELECT ?o WHERE { <urn:a> <urn:says> ?o }';
const noServers = {
  discover: async () => [],
  connect: () => Promise.reject(new Error('There are no servers.')),
  call: () => Promise.reject(new Error('There are no servers.')),
  status: () => [],
  close: async () => undefined,
};

/** The same contract, byte for byte, over whatever the composition root binds its capability to. */
describe('a tool’s capability', () => {
  let server: SparqlServer;
  beforeAll(async () => {
    server = await startSparqlServer();
    server.store.update('INSERT DATA { <urn:a> <urn:says> "from the endpoint" }');
  });
  afterAll(() => server.close());

  async function answered(knowledge: object): Promise<unknown> {
    const model = new ScriptedModel(inOrder({ calls: [['core__knowledge-query', JSON.stringify({ sparql })]] }));
    const tool = { 'knowledge-query': { type: 'knowledge-query' } };
    const system = await startWithTools(
      { tool, policy: { allowed_tools: ['*'] }, knowledge },
      { contracts: builtInTools, hub: noServers, model },
    );
    try {
      const [step] = (await system.ask('ask')).history;
      expect(step?.outcome).toBe('ok');
      return step?.observation;
    } finally {
      await system.close();
    }
  }

  it('is bound to another adapter by configuration, without another tool (T-03c, T-03a)', async () => {
    const inProcess = await answered({});
    expect(server.seen).toEqual([]);
    expect(inProcess).not.toContain('from the endpoint');
    const elsewhere = await answered({ endpoint: server.query });
    expect(server.seen).toContain('query');
    expect(elsewhere).toContain('from the endpoint');
  });
});
