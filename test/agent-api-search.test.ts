import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = (endpoint: string): string => `
tool:
  read_file: { type: read_file }
  write_file: { type: write_file }
  delete_file: { type: delete_file }
  find: { type: search_tools }
agents: { default: { tool_discovery: { strategy: api, max_search_results: 3, api: { endpoint: '${endpoint}' } } } }
policy: { allowed_tools: [read_file, write_file, find], approval: { none: it is a test } }
`;

/** Searches twice, then answers. */
class Searching implements Model {
  readonly name = 'scripted';
  readonly requests: ModelRequest[] = [];

  turn(request: ModelRequest): Promise<ModelTurn> {
    this.requests.push(request);
    const usage = { inputTokens: 1, outputTokens: 1 };
    const { length } = request.history;
    if (length === 2) return Promise.resolve({ thought: '', calls: [], answer: 'Done.', ...usage });
    const call = { toolCallId: `call-${length}`, tool: 'core__find', arguments: '{"query":"write"}' };
    return Promise.resolve({ thought: '', calls: [call], answer: null, ...usage });
  }
}

describe('a search of the agent’s model that a service answers', () => {
  const model = new Searching();
  const bodies: { readonly tools: readonly { readonly name: string }[]; readonly top_k: number }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      bodies.push(JSON.parse(text) as (typeof bodies)[number]);
      response.statusCode = bodies.length === 1 ? 200 : 500;
      response.end('{"selected_names":["core__write_file","core__delete_file"]}');
    });
  });
  let system: TestSystem;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    system = await startSystem(configuration(`http://127.0.0.1:${port}/search`), model);
    await system.ask({ requestId: 'asks', group: ['*'], question: 'Write it, please' });
    await system.responseOf('asks');
  });
  afterAll(async () => {
    await system.close();
    server.close();
  });
  const shown = (turn: number) => model.requests[turn]?.tools.map(({ id }) => id);

  it('sends the service the tools that the turn was offered, and no other', () => {
    expect(bodies[0]?.tools.map(({ name }) => name)).toEqual(['core__read_file', 'core__write_file']);
    expect(bodies[0]?.top_k).toBe(3);
  });

  it('shows what the service selected of them from the next turn on', () => {
    expect(shown(0)).toEqual(['core__find']);
    expect(shown(1)).toEqual(['core__write_file', 'core__find']);
  });

  it('shows all that is offered where the service fails, with the reason on the step, in the record and the metric', async () => {
    expect(shown(2)).toEqual(['core__read_file', 'core__write_file', 'core__find']);
    const steps = (await system.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(JSON.parse(steps[1]?.observation ?? '')).toMatchObject({ by: 'all', fail_open: 'http_error' });
    const records = async () => (await system.all('agent.discovery')).map(({ record }) => record);
    while ((await records()).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await records()).map(({ searches }) => searches)).toMatchObject([
      [],
      [{ query: 'write', by: 'api', matched: ['core__write_file'], failOpen: null }],
      [{ query: 'write', by: 'all', matchedTools: 2, failOpen: 'http_error' }],
    ]);
    expect(await system.metric('sluice_discovery_fail_open_total', { reason: 'http_error' })).toBe(1);
  });

  it('is replayed without the service', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.length).toBeGreaterThan(3);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
    expect(bodies).toHaveLength(2);
  });
});
