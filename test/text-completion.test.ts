import { afterEach, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Model, ModelTurn } from '@sluice/core';
import { until } from './audit/auditing.js';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

const configuration = `
model: { provider: openai-compatible, name: priced, base_url: 'http://127.0.0.1:9/v1', price: { input: 500000, output: 1000000 } }
tool:
  write: { type: text-completion }
policy: { allowed_tools: ['*'] }
limits: { tool_seconds: 2 }
`;

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** An agent that has a text written and then answers, and the text as it comes. */
function writing(text: (signal: AbortSignal) => Promise<string>): Model {
  const turn = { thought: '', inputTokens: 1, outputTokens: 1 };
  return {
    name: 'priced',
    turn: async (request, { signal }): Promise<ModelTurn> => {
      if (request.tools.length === 0)
        return { ...turn, calls: [], answer: await text(signal), inputTokens: 20, outputTokens: 300 };
      if (request.history.length > 0) return { ...turn, calls: [], answer: 'done' };
      const call = { toolCallId: 'c', tool: 'core__write', arguments: '{"prompt":"Write"}' };
      return { ...turn, calls: [call], answer: null };
    },
  };
}

const model = { gen_ai_provider_name: 'openai', gen_ai_request_model: 'priced' };
const turns = 'gen_ai_client_operation_duration_seconds_count';

describe('what the tool text-completion asks of the model', () => {
  it('counts as the agent’s turns do: time, tokens and cost', async () => {
    const { ask, metric } = (system = await startSystem(
      configuration,
      writing(async () => 'A text.'),
    ));
    const { history } = await ask({});
    expect(history.map(({ outcome, observation }) => [outcome, observation])).toEqual([['ok', '{"text":"A text."}']]);
    const tokens = (type: string): Promise<number> =>
      metric('gen_ai_client_token_usage_sum', { ...model, gen_ai_token_type: type });
    // Two turns of the agent with a token each way, and the text.
    await until(
      'all is counted',
      () => metric(turns, model),
      (counted) => counted === 3,
    );
    expect([await tokens('input'), await tokens('output')]).toEqual([22, 302]);
    expect(await metric('sluice_model_cost_total')).toBe(22 / 2 + 302);
  });

  it.each([
    ['is refused', 'model_refused', () => Promise.reject(new Fault('model_refused', 'No.', false))],
    [
      'does not come in time',
      'model_unreachable',
      (signal: AbortSignal) =>
        new Promise<string>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('It was aborted.')), { once: true }),
        ),
    ],
  ])('counts as failed where it %s', async (_, error_type, text) => {
    const { ask, metric } = (system = await startSystem(configuration, writing(text)));
    const { history } = await ask({});
    expect(history.map(({ outcome }) => outcome)).not.toContain('ok');
    expect(await metric(turns, { ...model, error_type })).toBe(1);
  });
});
