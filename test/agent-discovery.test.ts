import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { workflowConfiguration } from './harness/configurations.js';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const discovery = `
agents: { default: { tool_discovery: { strategy: ranked, min_tools: 1, max_tools: 1 } } }
`;
const usage = { inputTokens: 1, outputTokens: 1 };

/** Calls a tool whether or not it was shown it, then answers. */
class Caller implements Model {
  readonly name = 'scripted';
  readonly requests: ModelRequest[] = [];

  turn(request: ModelRequest): Promise<ModelTurn> {
    this.requests.push(request);
    if (request.history.length > 0) return Promise.resolve({ thought: '', calls: [], answer: 'Found.', ...usage });
    const sparql = JSON.stringify({ sparql: 'SELECT * WHERE { ?s ?p ?o } LIMIT 1' });
    const call = { toolCallId: 'one', tool: 'core__knowledge-query', arguments: sparql };
    return Promise.resolve({ thought: '', calls: [call], answer: null, ...usage });
  }
}

describe('tool discovery of the agent', () => {
  const model = new Caller();
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration() + discovery, model);
    await system.ask({ requestId: 'chosen', group: ['*'], question: 'Write a text, please' });
    await system.responseOf('chosen');
  });
  afterAll(() => system.close());

  it('shows the model fewer tools than the Toolset offers, and says which on the record of the turn', async () => {
    const [toolset] = await system.all('agent.toolsets');
    const [call] = await system.all('agent.tool-calls');
    const [request] = model.requests;
    expect(toolset?.record.tools.length).toBeGreaterThan(1);
    expect(request?.tools).toHaveLength(1);
    expect(call?.record.model?.shown).toEqual(request?.tools.map(({ id }) => id));
  });

  it('takes no right: a tool that was not shown runs (XB-17)', async () => {
    const [step] = await system.all('agent.steps');
    expect(model.requests[0]?.tools.map(({ id }) => id)).not.toContain('core__knowledge-query');
    expect(step?.record.steps).toMatchObject([{ action: 'knowledge-query', outcome: 'ok' }]);
  });

  it('agrees with itself in a replay', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.length).toBeGreaterThan(3);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('is on the topic of discovery, under its run', async () => {
    const records = async () => (await system.all('agent.discovery')).map(({ record }) => record);
    while ((await records()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const [first] = await records();
    expect(first).toMatchObject({
      ...{ source: 'agent', requestId: 'chosen', iteration: 1, strategy: 'ranked', keptTools: 1 },
      ...{ called: ['core__knowledge-query'], calledDeferred: 1 },
    });
  });
});

describe('a strategy that is run beside the agent’s', () => {
  const model = new Caller();
  let system: TestSystem;
  beforeAll(async () => {
    const shadow = discovery.replace('strategy: ranked,', 'strategy: passthrough, shadow: ranked,');
    system = await startSystem(workflowConfiguration() + shadow, model);
    await system.ask({ requestId: 'beside', group: ['*'], question: 'Write a text, please' });
    await system.responseOf('beside');
  });
  afterAll(() => system.close());

  it('changes nothing of what the model is shown', async () => {
    const [toolset] = await system.all('agent.toolsets');
    const [call] = await system.all('agent.tool-calls');
    expect(model.requests[0]?.tools.map(({ id }) => id)).toEqual(toolset?.record.tools.map(({ id }) => id));
    expect(call?.record.model?.shown).toBeNull();
    const decisions = await replayed(system.bus, null);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });

  it('says which called tools it would have left out, in the record and the metric', async () => {
    const records = async () => (await system.all('agent.discovery')).map(({ record }) => record);
    while ((await records()).length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const [first] = await records();
    expect(first).toMatchObject({
      ...{ source: 'agent', strategy: 'passthrough', deferredTools: 0, called: ['core__knowledge-query'] },
      shadow: { strategy: 'ranked', keptTools: 1, missed: ['core__knowledge-query'], missedTools: 1 },
    });
    const counted = { strategy: 'ranked', result: 'missed' };
    expect(await system.metric('sluice_discovery_shadow_called_total', counted)).toBe(1);
  });
});
