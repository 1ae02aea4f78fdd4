import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { defineTool } from '@sluice/tools';
import type { McpHub } from '@sluice/hub';
import { z } from 'zod';
import { replayed } from './replay/replaying.js';
import { inOrder, ScriptedModel } from './harness/system.js';
import { startWithTools } from './harness/with-tools.js';
import type { ToolSystem } from './harness/with-tools.js';

const hub = { connection: () => undefined, state: () => undefined } as unknown as McpHub;
let effects = 0;
const large = defineTool({
  type: 'large',
  description: 'Changes something and says much of it.',
  input: z.object({}),
  output: z.string(),
  effect: 'state_change',
  redaction: { whole: true },
  capabilities: [],
  repeatable: false,
  requiresConnection: false,
  execute: () => {
    effects++;
    return Promise.resolve('x'.repeat(32_000));
  },
});

describe('a turn of many calls', () => {
  const model = new ScriptedModel(inOrder());
  let system: ToolSystem;
  beforeAll(async () => {
    const configuration = {
      tool: { large: { type: 'large', available_in_states: ['*'] } },
      policy: { allowed_tools: ['large'] },
      limits: { calls_per_turn: 40 },
    };
    system = await startWithTools(configuration, { contracts: [large], hub, model });
  });
  afterAll(() => system.close());

  const calls = (count: number) => ({ calls: Array.from({ length: count }, () => ['core__large', '{}'] as const) });
  const run = async (requestId: string, count: number) => {
    effects = 0;
    model.script = inOrder(calls(count));
    const response = await system.ask(requestId, { group: ['*'] });
    const [steps] = (await system.all(topics.steps)).filter(({ record }) => record.requestId === requestId);
    return { response, steps: steps?.record.steps ?? [] };
  };

  it('makes those that its record has room for: each effect has its step there and in the end of the run', async () => {
    const { response, steps } = await run('seventeen', 17);
    expect(effects).toBe(15);
    expect(steps.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
      ...Array.from({ length: 15 }, () => 'ok'),
      'record_full',
      'record_full',
    ]);
    expect(response.history.filter(({ outcome }) => outcome === 'ok')).toHaveLength(effects);
    expect(response).toMatchObject({ kind: 'answer', answer: 'done' });
    expect(model.asked.at(-1)?.history.at(-1)?.observation).toMatch(/has no room for the call/);
  });

  it('of 5,000 is recorded up to a bound, and the model hears how many there were', async () => {
    const { response, steps } = await run('thousands', 5_000);
    expect(effects).toBe(14);
    const [turn] = (await system.all(topics.toolCalls)).filter(({ record }) => record.requestId === 'thousands');
    expect(turn?.record.calls).toHaveLength(80);
    expect(turn?.record.omittedCalls).toBe(4_920);
    expect(steps.filter(({ reason }) => reason === 'too_many_calls')).toHaveLength(40);
    expect(steps.at(-1)?.observation).toMatch(/made 5000 calls and may make 40, .* nor the 4920 behind it/);
    expect(response).toMatchObject({ kind: 'answer', answer: 'done' });
  });

  it('is decided the same by a replay', async () => {
    const decisions = await replayed(system.open.runtime.bus, null);
    expect(decisions.length).toBeGreaterThan(8);
    expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
