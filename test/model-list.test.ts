import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { workflowConfiguration } from './harness/configurations.js';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const models = `
model:
  - { provider: anthropic, name: first }
  - { provider: google, name: second }
`;
const data = '{"from":"google/second","fields":{"thoughtSignature":"signed"}}';
const usage = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 6, cacheWriteTokens: 2 };

/** Of two models the first has no capacity whenever it is asked. */
class FirstIsBusy implements Model {
  readonly name = 'scripted';
  readonly answered: ModelRequest[] = [];
  private asks = 0;

  turn(request: ModelRequest): Promise<ModelTurn> {
    this.asks += 1;
    if (this.asks % 2 === 1)
      return Promise.reject(new Fault('model_unreachable', 'The model anthropic/first asks to wait (429).', true));
    this.answered.push(request);
    if (request.history.some(({ iteration }) => iteration === 1))
      return Promise.resolve({ thought: '', calls: [], answer: 'Found.', ...usage });
    const sparql = JSON.stringify({ sparql: 'SELECT * WHERE { ?s ?p ?o } LIMIT 1' });
    const call = { toolCallId: 'one', tool: 'core__knowledge-query', arguments: sparql, providerData: data };
    return Promise.resolve({ thought: 'I look.', calls: [call], answer: null, ...usage });
  }
}

describe('a list of models, and what they get back', () => {
  const model = new FirstIsBusy();
  const passedOver = [
    { name: 'anthropic/first', code: 'model_unreachable', message: 'The model anthropic/first asks to wait (429).' },
  ];
  let system: TestSystem;
  beforeAll(async () => {
    system = await startSystem(workflowConfiguration() + models, model);
    await system.ask({ requestId: 'listed', group: ['*'] });
  });
  afterAll(() => system.close());

  it('asks the next model, and the records of the turns say which answered, what it was asked and which was skipped', async () => {
    const [call] = await system.all('agent.tool-calls');
    const response = await system.responseOf('listed');
    for (const record of [call?.record, response])
      expect(record?.model).toEqual({
        name: 'google/second',
        promptHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        passedOver,
        shown: null,
        deferred: [],
        nativeSearch: null,
        askedAgain: null,
        budgets: [],
        definitionTokens: expect.any(Number),
        resultTokens: expect.any(Number),
        otherTokens: expect.any(Number),
        tokenizer: expect.any(String),
      });
    expect(response.model?.promptHash).not.toBe(call?.record.model?.promptHash);
    expect(response.run).toMatchObject({ inputTokens: 20, cachedInputTokens: 12, cacheWriteTokens: 4 });
    const named = { gen_ai_provider_name: 'anthropic', gen_ai_request_model: 'first' };
    expect(await system.metric('sluice_models_passed_over_total', named)).toBe(2);
  });

  it('carries what a provider wants back with the history, and shows it to no other model', async () => {
    const [, second] = model.answered;
    expect(second?.history).toMatchObject([{ toolCallId: 'one', providerData: data }]);
    const [, ...steps] = (await system.all('agent.steps')).map(({ record }) => record.steps[0]);
    for (const step of steps) expect(step?.providerData ?? null).toBeNull();
    expect((await system.responseOf('listed')).history).toMatchObject([{ toolCallId: 'one', providerData: null }]);
    const seen = [...(await system.all('agent.audit')), ...(await system.all('agent.progress'))];
    expect(JSON.stringify([seen, await system.lines()])).not.toContain('thoughtSignature');
  });

  it('takes none from a sender', async () => {
    const [done] = (await system.responseOf('listed')).history;
    if (done === undefined) throw new Error('The run had a step.');
    const history = [{ ...done, iteration: 0, toolCallId: 'former', providerData: data }];
    await system.ask({ requestId: 'sent', group: ['*'], history });
    expect(model.answered[2]?.history).toMatchObject([{ toolCallId: 'former', providerData: null }]);
  });

  it('stands in the audit: the model, the hash of its prompt, and the models that were skipped (XB-44)', async () => {
    const [call] = await system.all('agent.tool-calls');
    const wanted = { model: 'google/second', prompt_hash: call?.record.model?.promptHash };
    const deadline = Date.now() + 10_000;
    let chosen: Record<string, unknown> | undefined;
    while (chosen === undefined && Date.now() < deadline) {
      const entries = await system.all('agent.audit');
      const found = entries.find(({ record }) => record.kind === 'calls_chosen')?.record.details;
      chosen = found === undefined ? undefined : (JSON.parse(found) as Record<string, unknown>);
      if (chosen === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(chosen).toMatchObject({
      ...wanted,
      input_tokens: 10,
      cached_input_tokens: 6,
      models_passed_over: [{ model: 'anthropic/first', message: passedOver[0]?.message }],
    });
  });

  it('is decided once more by a replay to the byte', async () => {
    const decisions = await replayed(system.bus, null);
    expect(decisions.length).toBeGreaterThan(5);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
