import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault, runCost } from '@sluice/core';
import type { Incoming, LogReader } from '@sluice/bus';
import type { Model, ModelSettings } from '@sluice/core';
import { readEnvironment } from '@sluice/host';
import { startEmbedded } from '../../apps/sluice/src/system/embedded.js';
import { followRun, newRequest, publishRequest } from '../../apps/sluice/src/run-request.js';
import { changed, replayed } from '../replay/replaying.js';
import { ids } from '../harness/with-supervisor.js';

const models = {
  dearFirst: ['large', 'small', 'free'],
  cheapFirst: ['small', 'large'],
};
const entries: Readonly<Record<string, string>> = {
  large: ', price: { input: 10, output: 10 }',
  small: ', price: { input: 1, output: 1 }',
  free: '',
};

const configuration = (agent: string, order: keyof typeof models, usdPerRun: number | null): string => `
tool:
  research: { type: agent, group: [helpers], agent: ${agent} }
  now: { type: get_current_time, group: [facts] }
policy:
  allowed_tools: [research, now]
  allowed_agents: ['*']
  budgets: { ${usdPerRun === null ? '' : `usd_per_run: ${usdPerRun}`} }
model:
${models[order]
  .map(
    (name) =>
      `  - { provider: openai-compatible, name: ${name}, base_url: "http://127.0.0.1:9/v1", max_output_tokens: 10${entries[name] ?? ''} }\n`,
  )
  .join('')}`;

/** The record as one who leaves out what other models cost would have written it. */
function withoutOthers(message: Incoming): Incoming {
  if (message.topic !== 'agent.tool-calls' && message.topic !== 'agent.steps') return message;
  const { record } = message;
  if (record.run.otherModels === null) return message;
  return { ...message, record: { ...record, run: { ...record.run, otherModels: null } } } as Incoming;
}

describe('an agent with a model of its own', () => {
  let folder: string;
  const asked: string[] = [];
  let isAway = false;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-own-model-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const modelOf = ({ name }: ModelSettings): Model => ({
    name: `openai-compatible/${name ?? ''}`,
    turn: ({ question, history }) => {
      asked.push(`${name ?? ''}: ${question}`);
      if (isAway && name === 'small') throw new Fault('model_unreachable', 'It is away.', true);
      const usage = { thought: '', inputTokens: 1_000, outputTokens: 1_000 };
      const args = '{"question":"Part?"}';
      if (question === 'Go' && history.length === 0)
        return Promise.resolve({
          ...usage,
          calls: [{ toolCallId: 'a', tool: ids.research, arguments: args }],
          answer: null,
        });
      return Promise.resolve({ ...usage, calls: [], answer: `By ${name ?? ''}.` });
    },
  });

  const run = async (agent: string, order: keyof typeof models = 'dearFirst', usdPerRun: number | null = null) => {
    asked.length = 0;
    const data = mkdtempSync(join(folder, 'run-'));
    const configFile = join(data, 'sluice.yaml');
    writeFileSync(configFile, configuration(agent, order, usdPerRun));
    const environment = { ...readEnvironment({ SLUICE_DATA: data }), port: 0 };
    const source = { get: (settings: ModelSettings) => Promise.resolve(modelOf(settings)) };
    const system = await startEmbedded({ environment, configFile, models: source, fileOnly: true });
    try {
      const { bus } = system.runtime;
      const request = { ...newRequest('Go', { requestId: 'run-1', sessionId: 'run-1' }), group: ['helpers'] };
      await publishRequest(bus, request);
      const end = await followRun(bus, 'run-1', 0, () => undefined, AbortSignal.timeout(60_000));
      const unlikeIn = async (log: LogReader): Promise<number> =>
        (await replayed(log, null)).filter(({ outcome }) => outcome.kind !== 'equal').length;
      const history = end?.history.map(({ observation }) => observation) ?? [];
      const { modelCost } = system.runtime.metrics;
      const costs = (await modelCost.get()).values.reduce((sum, { value }) => sum + value, 0);
      return {
        ...{ history, unlike: await unlikeIn(bus), code: end?.error?.code ?? null, others: end?.run?.otherModels },
        // In millionths, by the metric and by what budgets count.
        costs: [Math.round(costs * 1e6), end?.run == null ? 0 : runCost(end.run, { input: 1, output: 1 })],
        unlikeWithout: await unlikeIn(changed(bus, withoutOthers)),
      };
    } finally {
      await system.close();
    }
  };

  it('asks that one first, and the others where it is out of reach; replay says the same', async () => {
    const agent = '{ group: [facts], model: openai-compatible/small }';
    expect(await run(agent)).toMatchObject({ history: ['By small.'], unlike: 0 });
    expect(asked).toEqual(['large: Go', 'small: Part?', 'large: Go']);
    isAway = true;
    expect(await run(agent)).toMatchObject({ history: ['By large.'], unlike: 0 });
    isAway = false;
    expect(await run('{ group: [facts] }')).toMatchObject({ history: ['By large.'], unlike: 0, others: null });
  });

  it('has its money counted by the price of that one', async () => {
    await expect(run('{ group: [facts], model: openai-compatible/free, usd: 1 }')).rejects.toThrow(
      'no price to count by',
    );
    expect((await run('{ group: [facts], model: openai-compatible/small, usd: 0.001 }')).history).toEqual([
      'By small.',
    ]);
  });

  const dear = '{ group: [facts], model: openai-compatible/large }';
  const turn = { inputTokens: 1_000, outputTokens: 1_000, cachedInputTokens: 0, cacheWriteTokens: 0, microUsd: 20_000 };

  it('counts in the money of the run that calls it at its own price', async () => {
    expect(await run(dear, 'cheapFirst', 1)).toMatchObject({
      code: null,
      others: turn,
      costs: [24_000, 24_000],
      unlike: 0,
    });
    // Two turns of the small model and one of the agent’s would be 6,000 at the price of the small one.
    const ended = await run(dear, 'cheapFirst', 0.015);
    expect(ended).toMatchObject({ history: ['By large.'], code: 'budget_exceeded', others: turn, unlike: 0 });
    expect(ended.costs).toEqual([22_000, 22_000]);
    expect(ended.unlikeWithout).toBeGreaterThan(0);
    // The rest does not last for a turn of the agent’s model.
    const refused = await run(dear, 'cheapFirst', 0.0024);
    expect(refused).toMatchObject({ history: [expect.stringContaining('may use more than is left')], unlike: 0 });
  });

  it('counts a fallback’s turns at the fallback’s price', async () => {
    isAway = true;
    const ended = await run('{ group: [facts] }', 'cheapFirst', 0.015);
    isAway = false;
    expect(ended).toMatchObject({ code: 'budget_exceeded', others: turn, costs: [20_000, 20_000], unlike: 0 });
    expect(ended.unlikeWithout).toBeGreaterThan(0);
  });

  it('names a model that there is', async () => {
    await expect(run('{ group: [facts], model: openai-compatible/smal }')).rejects.toThrow(
      'did you mean `openai-compatible/small`?',
    );
  });
});
