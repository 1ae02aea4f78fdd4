import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allTopics } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import { createModel } from '@sluice/model';
import { anthropic } from '../../libs/model/test/wires/anthropic.js';
import { send, startEndpoint } from '../../libs/model/test/wires/endpoint.js';
import type { Endpoint } from '../../libs/model/test/wires/endpoint.js';
import { calls, workflowConfiguration } from '../harness/configurations.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';

const marker = 'marked-thought-4711';
const thoughts: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  aloud: [marker, ' and so on'],
  otherwise: [`${marker} {"tool":"core__graph-update"}`],
};

/** What a provider sends beside text and calls: here the thinking of a model of Anthropic's, signed as it comes. */
describe('what a provider sends beside its turn', () => {
  let endpoint: Endpoint;
  let system: TestSystem;
  const ended = new Map<string, AgentResponse>();

  beforeAll(async () => {
    endpoint = await startEndpoint();
    endpoint.respond = async (response, { body }) => {
      const said = JSON.stringify(body['messages']);
      const [kind = 'nothing'] = Object.keys(thoughts).filter((one) => said.includes(`Think ${one}`));
      const turn = said.includes('tool_result')
        ? { text: ['It is so.'] }
        : { text: ['I look.'], calls: [{ id: 'one', tool: calls.query[0], pieces: [calls.query[1]] }] };
      response.writeHead(200, { 'content-type': anthropic.contentType });
      await send(response, anthropic.encode({ ...turn, thinking: thoughts[kind] ?? [] }));
      response.end();
    };
    const settings = { baseUrl: endpoint.url, apiKeyEnv: null, region: null, maxOutputTokens: 256 };
    const model = await createModel({ ...settings, ...anthropic.settings }, { secret: () => 'the-key' });
    const price = `model: { provider: anthropic, name: claude-test, price: { input: 1000000, output: 1000000 } }`;
    system = await startSystem(workflowConfiguration({ limits: price }), model, undefined, { logLevel: 'debug' });
    for (const kind of Object.keys(thoughts)) {
      const cost = await system.metric('sluice_model_cost_total');
      ended.set(kind, await system.ask({ requestId: kind, group: ['read-only'], question: `Think ${kind}` }));
      expect(await system.metric('sluice_model_cost_total')).toBe(cost + 24);
    }
  });
  afterAll(async () => {
    await system.close();
    await endpoint.close();
  });

  const decided = (kind: string): object => {
    const { answer, state, iterations, run, history } = ended.get(kind) as AgentResponse;
    const { inputTokens, outputTokens, toolCalls } = run ?? {};
    const steps = history.map(({ startedAt: _, endedAt: __, ...step }) => step);
    return { answer, state, iterations, inputTokens, outputTokens, toolCalls, steps };
  };

  it('decides nothing and costs nothing: the run is the same whatever it says (T-10f)', () => {
    expect(ended.get('nothing')).toMatchObject({
      answer: 'It is so.',
      history: [{ thought: 'I look.', outcome: 'ok' }],
    });
    for (const kind of ['aloud', 'otherwise']) expect(decided(kind)).toEqual(decided('nothing'));
  });

  it('goes with its call and no further: no other field, answer, audit entry, line or metric holds it (T-10e)', async () => {
    const records = await system.all(...allTopics);
    expect(records.length).toBeGreaterThan(15);
    // What the provider wants back with its call stands in one field, which is for the provider alone.
    const without = (key: string, value: unknown): unknown => (key === 'providerData' ? undefined : value);
    expect(JSON.stringify(records, without)).not.toContain(marker);
    const told = records.filter(({ topic }) => ['agent.responses', 'agent.audit', 'agent.progress'].includes(topic));
    expect(told.length).toBeGreaterThan(3);
    expect(JSON.stringify(told)).not.toContain(marker);
    expect(JSON.stringify(await system.lines())).not.toContain(marker);
    expect(await system.embedded.runtime.metrics.registry.metrics()).not.toContain(marker);
    const files = globSync('**/*', { cwd: system.folder, withFileTypes: true }).filter((entry) => entry.isFile());
    const holding = files.filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(marker));
    expect(
      holding.map(({ name }) => name.replace(/-(?:wal|shm)$/, '')).filter((name) => name !== 'log.sqlite'),
    ).toEqual([]);
  });

  it('is logged at debug by its kinds alone (T-10e)', async () => {
    const lines = (await system.lines()).filter((line) => line['kinds'] !== undefined);
    expect(new Set(lines.map((line) => line['request_id']))).toEqual(new Set(['aloud', 'otherwise']));
    for (const { level, kinds } of lines) {
      expect(level).toBe(20);
      expect(Object.keys(kinds as object).every((kind) => kind === 'reasoning')).toBe(true);
    }
  });
});
