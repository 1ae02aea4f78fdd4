import { afterEach, describe, expect, it } from '@jest/globals';
import { short } from '../harness/approving.js';
import type { TestSystem } from '../harness/system.js';
import { ids, research, startAgents } from '../harness/with-agents.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startAgents>): ReturnType<typeof startAgents> {
  const started = await startAgents(...given);
  system = started.opened;
  return started;
}

const text = [ids.text, '{"prompt":"Say so"}'] as const;
const asking = { Go: [{ calls: [research] }] };
/** An agent that never comes to an answer by itself. */
const endless = { ...asking, 'Who made it?': Array.from({ length: 20 }, () => ({ calls: [text] })) };

describe('which agents may be called (K-63)', () => {
  it('says policy.allowed_agents: one that it does not name is hidden, and refused', async () => {
    const { opened, model, end } = await running(asking, undefined, { allowed: '[]' });
    const response = await end();
    expect(short(response.history)).toEqual([['research', 'policy_denied', 'not_allowed', 'analysis']]);
    expect(model.asked[0]?.tools.map(({ id }) => id)).not.toContain(ids.research);
    const [toolset] = await opened.all('agent.toolsets');
    expect(toolset?.record.hidden).toContainEqual({ key: 'research', reasons: ['policy'] });
    expect((await opened.all('agent.responses')).map(({ record }) => record.requestId)).toEqual(['run-1']);
  });

  it('names them all with a wildcard', async () => {
    const { end } = await running(asking, undefined, { allowed: "['*']" });
    expect(short((await end()).history)).toEqual([['research', 'ok', null, 'analysis']]);
  });
});

describe('an agent (K-64)', () => {
  it('is offered no agent, and calls none', async () => {
    const { opened, end } = await running({ ...asking, 'Who made it?': [{ calls: [research] }] });
    const response = await end();
    expect(short(response.history)).toEqual([['research', 'ok', null, 'analysis']]);
    const [, child] = await opened.all('agent.toolsets');
    expect(child?.record.run.parent).not.toBeNull();
    expect(child?.record.hidden).toContainEqual({ key: 'research', reasons: ['depth'] });
    expect(child?.record.tools.map(({ id }) => id)).toEqual([ids.text]);
    const ended = (await opened.all('agent.responses')).find(({ record }) => record.requestId !== 'run-1');
    expect(short(ended?.record.history ?? [])).toEqual([['research', 'policy_denied', 'nested_agent', 'undefined']]);
  });
});

describe('the budget of an agent (K-65)', () => {
  const price =
    'model: { provider: openai-compatible, name: m, base_url: "http://127.0.0.1:9/v1", price: { input: 1, output: 3 } }';

  it.each([
    ['of iterations', '{ group: [text], max_iterations: 2 }', {}, 'max_iterations', 2],
    // Each turn reads one token and writes one.
    ['of tokens', '{ group: [text], tokens: 6 }', {}, 'budget_exceeded', 3],
    ['of dollars', '{ group: [text], usd: 0.000016 }', { model: price }, 'budget_exceeded', 4],
  ])('%s ends it, and the model reads why', async (_, agent, more, code, turns) => {
    const { opened, end } = await running(endless, agent, more);
    const { kind, history, run } = await end();
    expect([kind, ...short(history)]).toEqual(['answer', ['research', 'execution', 'agent_budget_used', 'analysis']]);
    expect(history[0]?.observation).toContain(`ended without an answer (${code})`);
    const ended = (await opened.all('agent.responses')).find(({ record }) => record.requestId !== 'run-1');
    expect([ended?.record.error?.code, ended?.record.iterations]).toEqual([code, turns]);
    expect(history[0]?.agentRun).toMatchObject({ inputTokens: turns, outputTokens: turns });
    expect(run?.inputTokens).toBe(turns + 2);
  });

  it('is no more than what is left of the run that calls it, and nothing is begun that cannot be afforded', async () => {
    const budgets = (tokens: number) => ({
      policy: `\n  budgets: { tokens_per_run: ${tokens} }`,
      model: 'model: { provider: rules, max_output_tokens: 100 }',
    });
    // The first turn used two tokens; a turn of the agent may use a hundred and its question.
    const left = await running(asking, undefined, budgets(1_000));
    expect(short((await left.end()).history)).toEqual([['research', 'ok', null, 'analysis']]);
    const [begun] = await left.opened.all('agent.steps');
    expect(begun?.record.run.parent?.maxTokens).toBe(998);
    await left.opened.close();

    const { opened, end } = await running(asking, undefined, budgets(104));
    const { history } = await end();
    expect(short(history)).toEqual([['research', 'policy_denied', 'budget_used', 'analysis']]);
    expect(history[0]?.observation).toContain('more than is left');
    expect((await opened.all('agent.responses')).map(({ record }) => record.requestId)).toEqual(['run-1']);
  });

  it('of time ends it, however long the run that calls it may take', async () => {
    const { model, end } = await running(asking, undefined, { entry: 'timeout_seconds: 1' });
    const { script } = model;
    model.script = (request) =>
      request.question === 'Who made it?' ? new Promise<never>(() => undefined) : script(request);
    const turn = model.turn.bind(model);
    model.turn = (request, ...rest: unknown[]) =>
      Promise.race([
        turn(request),
        new Promise<never>((_, reject) => {
          const { signal } = rest[0] as { signal: AbortSignal };
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      ]);
    const { history } = await end();
    expect(short(history)).toEqual([['research', 'execution', 'agent_budget_used', 'analysis']]);
    expect(history[0]?.observation).toContain('deadline_exceeded');
  });

  it('of the run that calls it bounds it', async () => {
    const { opened, end } = await running(asking);
    const { run } = await end();
    const [begun] = await opened.all('agent.steps');
    expect(begun?.record.run.deadline).toBeLessThanOrEqual(run?.deadline ?? 0);
    expect((begun?.record.run.deadline ?? 0) - (begun?.record.run.startedAt ?? 0)).toBe(20_000);
  });
});

describe('the answer of an agent (K-66)', () => {
  it('begins with a summary, as instructed, and is cut to its cap with a sentence that says so', async () => {
    const summary = 'Ada made it, in 1843.';
    const long = `${summary}\n\n${'There is more to tell of that. '.repeat(100)}`;
    const { model, end } = await running(
      { ...asking, 'Who made it?': [{ answer: long }] },
      '{ group: [text], answer_bytes: 400, instructions: "Look it up." }',
    );
    const { history } = await end();
    const told = model.asked.find(({ question }) => question === 'Who made it?')?.instructions ?? '';
    expect(told).toMatch(/^Look it up\.\n\n/);
    expect(told).toContain('Begin your answer with a summary');
    expect(told).toContain('400 bytes');
    const observed = history[0]?.observation ?? '';
    expect(observed.startsWith(summary)).toBe(true);
    expect(observed).toMatch(/of that\.\n\n\[The agent’s answer was longer: \d+ of its \d+ bytes were left out\.\]$/);
    expect(Buffer.byteLength(JSON.stringify(observed)) - 2).toBeLessThanOrEqual(400);
  });

  it('fits however long it is where a result may have the fewest bytes that an agent is allowed with', async () => {
    const answer = 'x\n'.repeat(400_000);
    const scripts = { ...asking, 'Who made it?': [{ answer }] };
    const { end } = await running(scripts, undefined, { limits: 'limits: { result_bytes: 200 }' });
    const [step] = (await end()).history;
    expect(step?.outcome).toBe('ok');
    expect(step?.observation).toMatch(
      /^x[^]*The agent’s answer was longer: \d+ of its 1200000 bytes were left out\.\]$/,
    );
  });
});
