import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { Model, ModelSettings } from '@sluice/core';
import { readEnvironment } from '@sluice/host';
import { startEmbedded } from '../../apps/sluice/src/system/embedded.js';
import { followRun, newRequest, publishRequest } from '../../apps/sluice/src/run-request.js';
import { replayed } from '../replay/replaying.js';
import { ids } from '../harness/with-supervisor.js';
import { writeFileSync } from 'node:fs';

const configuration = (agent: string): string => `
tool:
  research: { type: agent, group: [helpers], agent: ${agent} }
  now: { type: get_current_time, group: [facts] }
policy: { allowed_tools: [research, now], allowed_agents: ['*'] }
model:
  - { provider: openai-compatible, name: large, base_url: "http://127.0.0.1:9/v1", price: { input: 10, output: 10 } }
  - { provider: openai-compatible, name: small, base_url: "http://127.0.0.1:9/v1", price: { input: 1, output: 1 } }
  - { provider: openai-compatible, name: free, base_url: "http://127.0.0.1:9/v1" }
`;

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

  const run = async (agent: string): Promise<{ history: readonly (string | null)[]; unlike: number }> => {
    asked.length = 0;
    const data = mkdtempSync(join(folder, 'run-'));
    const configFile = join(data, 'sluice.yaml');
    writeFileSync(configFile, configuration(agent));
    const environment = { ...readEnvironment({ SLUICE_DATA: data }), port: 0 };
    const models = { get: (settings: ModelSettings) => Promise.resolve(modelOf(settings)) };
    const system = await startEmbedded({ environment, configFile, models, fileOnly: true });
    try {
      const { bus } = system.runtime;
      const request = { ...newRequest('Go', { requestId: 'run-1', sessionId: 'run-1' }), group: ['helpers'] };
      await publishRequest(bus, request);
      const end = await followRun(bus, 'run-1', 0, () => undefined, AbortSignal.timeout(60_000));
      const unlike = (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal').length;
      return { history: end?.history.map(({ observation }) => observation) ?? [], unlike };
    } finally {
      await system.close();
    }
  };

  it('asks that one first, and the others where it is out of reach; replay says the same', async () => {
    const agent = '{ group: [facts], model: openai-compatible/small }';
    expect(await run(agent)).toEqual({ history: ['By small.'], unlike: 0 });
    expect(asked).toEqual(['large: Go', 'small: Part?', 'large: Go']);
    isAway = true;
    expect(await run(agent)).toEqual({ history: ['By large.'], unlike: 0 });
    isAway = false;
    expect(await run('{ group: [facts] }')).toEqual({ history: ['By large.'], unlike: 0 });
  });

  it('has its money counted by the price of that one', async () => {
    await expect(run('{ group: [facts], model: openai-compatible/free, usd: 1 }')).rejects.toThrow(
      'no price to count by',
    );
    expect((await run('{ group: [facts], model: openai-compatible/small, usd: 0.001 }')).history).toEqual([
      'By small.',
    ]);
  });

  it('names a model that there is', async () => {
    await expect(run('{ group: [facts], model: openai-compatible/smal }')).rejects.toThrow(
      'did you mean `openai-compatible/small`?',
    );
  });
});
