import { afterEach, describe, expect, it } from '@jest/globals';
import type { AgentRequest } from '@sluice/contracts';
import type { Model, ModelRequest, ModelTurn } from '@sluice/core';
import { plausible } from '@sluice/tokens';
import { startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';
import { replayed } from './replay/replaying.js';

const configuration = (budget: number, more = '') => `
model: { provider: openai-compatible, name: m, base_url: "http://127.0.0.1:9/v1", max_output_tokens: 1000 }
limits: { max_iterations: 20 }
${more}
tool:
  read_file: { type: read_file, group: [files] }
policy: { allowed_tools: ['*'], allowed_agents: ['*'], approval: { none: it is a test }, budgets: { tokens_per_run: ${budget} } }
`;

/** Reads files for ever, with a thought of 3 kB each time, and reports so many tokens. */
class Reading implements Model {
  readonly name = 'reading';
  constructor(private readonly reported: number) {}

  turn({ history }: ModelRequest): Promise<ModelTurn> {
    const call = { toolCallId: `call-${history.length}`, tool: 'core__read_file', arguments: '{"path":"a.md"}' };
    const thought = 'I think again of it. '.repeat(150);
    return Promise.resolve({
      thought,
      calls: [call],
      answer: null,
      inputTokens: this.reported,
      outputTokens: this.reported,
    });
  }
}

let system: TestSystem | null = null;
afterEach(async () => {
  await system?.close();
  system = null;
});

async function ended(budget: number, reported: number, more?: string, asked: Partial<AgentRequest> = {}) {
  system = await startSystem(configuration(budget, more), new Reading(reported));
  const response = await system.ask({ group: ['files'], question: 'What is there?', ...asked });
  const decisions = await replayed(system.bus, null);
  expect(decisions.filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  return response;
}

describe('a budget of tokens', () => {
  it('holds with a provider that reports none: what was sent and written is counted here', async () => {
    const { error, run, iterations } = await ended(6_000, 0);
    expect(error?.code).toBe('budget_exceeded');
    expect([iterations > 1, iterations < 6]).toEqual([true, true]);
    expect(run?.inputTokens).toBeGreaterThan(500);
    expect(run?.outputTokens).toBeGreaterThan(500);
    expect((run?.inputTokens ?? 0) + (run?.outputTokens ?? 0)).toBeLessThan(6_000);
    const warnings = (await system?.lines())?.filter(({ msg }) => String(msg).includes('Sluice counts them itself'));
    expect(warnings).toHaveLength(1);
  });

  it('sets aside the instructions and the tools before the first turn', async () => {
    const long = `agents: { default: { instructions: "${'Be brief. '.repeat(400)}" } }`;
    const { error, iterations } = await ended(1_900, 10, long);
    expect([error?.code, iterations]).toEqual(['budget_exceeded', 0]);
  });

  it('sets aside the images of the question too, by their names', async () => {
    const image = (n: number) => ({ hash: String(n).padStart(64, '0'), type: 'image/png', size: 9_000, kind: 'image' });
    const content = Array.from({ length: 10 }, (_, n) => ({ ...image(n), name: null }));
    const { error, iterations } = await ended(3_900, 10, '', { content });
    expect([error?.code, iterations]).toEqual(['budget_exceeded', 0]);
  });
});

describe('the tokens that a provider reports', () => {
  it.each([
    ['are taken where they can be right', 900, 1_000, 900],
    ['are taken where its tokenizer has fewer', 300, 1_000, 300],
    ['are taken where it adds a prompt of its own', 150_000, 1_000, 150_000],
    ['are taken of a small prompt', 1, 600, 1],
    ['are counted here where there are none', 0, 600, 600],
    ['are counted here where they are far too few', 1, 1_000, 1_000],
    ['are counted here where no such number can be', 5e9, 1_000, 1_000],
    ['are none where nothing was written', 0, 0, 0],
  ])('%s', (_, reported, counted, tokens) => {
    expect(plausible(reported, counted)).toBe(tokens);
  });
});
