import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { openSparqlEndpoint } from '@sluice/packs';
import type { KnowledgeStore } from '@sluice/tools';
import { patience } from '../../sources/test/configured.js';
import { knowledgeSuite, sampleTurtle } from './knowledge-suite.js';
import { startSparqlServer } from './sparql-server.js';
import type { SparqlServer } from './sparql-server.js';
import { unusedPort } from '../../hub/test/unused-port.js';

let server: SparqlServer;
let store: KnowledgeStore;

beforeAll(async () => {
  server = await startSparqlServer();
  server.store.load(sampleTurtle, { format: 'text/turtle' });
  store = openSparqlEndpoint({ endpoint: server.query, updateEndpoint: server.update });
});
afterAll(() => server.close());

knowledgeSuite('a SPARQL endpoint', async () =>
  openSparqlEndpoint({ endpoint: server.query, updateEndpoint: server.update }),
);

describe('a SPARQL endpoint', () => {
  const statement = { add: [{ subject: 'Endpoint', predicate: 'kind', object: 'remote' }], remove: [] };
  const withStatus = async (status: number, action: () => Promise<unknown>): Promise<unknown> => {
    server.status = status;
    try {
      return await action().then(
        () => 'no error',
        (error: unknown) => error,
      );
    } finally {
      server.status = null;
    }
  };

  it('remembers a key in the endpoint itself, so that another process knows it too', async () => {
    await store.change(statement, 'shared key/1', patience());
    const other = openSparqlEndpoint({ endpoint: server.query, updateEndpoint: server.update });
    expect(await other.change(statement, 'shared key/1', patience())).toEqual({
      added: 1,
      removed: 0,
      alreadyDone: true,
    });
  });

  it('sends no update at all for a key it knows', async () => {
    const before = server.seen.filter((kind) => kind === 'update').length;
    await store.change(statement, 'shared key/1', patience());
    expect(server.seen.filter((kind) => kind === 'update')).toHaveLength(before);
  });

  it('can be read where it cannot be written', async () => {
    const reading = openSparqlEndpoint({ endpoint: server.query, updateEndpoint: null });
    expect((await reading.query('ASK {}', patience())).rows).toEqual([{ answer: true }]);
    await expect(reading.change(statement, 'k', patience())).rejects.toThrow(/knowledge\.update_endpoint/);
  });

  it('is unavailable where nothing listens', async () => {
    const nowhere = openSparqlEndpoint({
      endpoint: `http://127.0.0.1:${await unusedPort()}/query`,
      updateEndpoint: null,
    });
    await expect(nowhere.query('ASK {}', patience())).rejects.toThrow(ToolUnavailableError);
  });

  it.each([429, 503])('is unavailable while it answers %i', async (status) => {
    expect(await withStatus(status, () => store.query('ASK {}', patience()))).toBeInstanceOf(ToolUnavailableError);
  });

  it.each([500, 401, 0])('fails, and is not called unavailable, on %i', async (status) => {
    const error = await withStatus(status, () => store.query('ASK {}', patience()));
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ToolUnavailableError);
    expect(error).not.toBeInstanceOf(ToolUserError);
  });

  it('waits no longer than its signal', async () => {
    expect(await withStatus(-1, () => store.query('ASK {}', AbortSignal.timeout(100)))).toMatchObject({
      name: 'TimeoutError',
    });
  });

  it('takes no endless answer', async () => {
    server.store.load(`<x:big> <x:text> "${'x'.repeat(9 * 1024 * 1024)}" .`, { format: 'application/n-triples' });
    await expect(store.query('SELECT * { <x:big> ?p ?o }', patience())).rejects.toThrow(/8 MB/);
  });
});
