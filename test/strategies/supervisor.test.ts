import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { Models } from '@sluice/model';
import { isAgentRunId } from '@sluice/run';
import { run as audit } from '../../apps/sluice/src/commands/audit.js';
import { caughtUp } from '../audit/auditing.js';
import { short } from '../harness/approving.js';
import { projectRoot } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import {
  barrier,
  forever,
  ids,
  now,
  research,
  startSupervisor,
  supervising,
  withSupervisor,
  writer,
} from '../harness/with-supervisor.js';
import { changed, replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

async function running(...given: Parameters<typeof startSupervisor>): ReturnType<typeof startSupervisor> {
  const started = await startSupervisor(...given);
  system = started.opened;
  return started;
}

async function unlike({ bus }: TestSystem): Promise<unknown[]> {
  return (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');
}

async function begun({ all }: TestSystem) {
  const steps = (await all('agent.steps')).filter(({ record }) => record.iteration === 0);
  return steps
    .map(({ record }) => record)
    .toSorted((one, other) => (one.run.parent?.index ?? 0) - (other.run.parent?.index ?? 0));
}

const three = [research('One?'), research('Two?'), research('Three?')];

describe('a supervisor', () => {
  it('has the agents that one turn calls work side by side, and goes on when all have ended', async () => {
    const together = barrier(3);
    const { opened, model, end } = await running(
      supervising(three, async ({ question }) => {
        // None of them answers before all are asked: one after another they would wait for ever.
        await together();
        return { answer: `Answer to ${question}` };
      }),
    );
    const response = await end();
    expect(response.error).toBeNull();
    expect(short(response.history)).toEqual(three.map(() => ['research', 'ok', null, 'undefined']));
    expect(response.answer).toBe('ok: Answer to One?\nok: Answer to Two?\nok: Answer to Three?');
    expect(response.history.map(({ iteration, index }) => [iteration, index])).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
    const children = await begun(opened);
    expect(children.map(({ run }) => run.parent?.fanOut)).toEqual(three.map(() => ({ first: 0, size: 3 })));
    expect(new Set(children.map(({ requestId }) => requestId)).size).toBe(3);
    expect(response.history.map(({ agentRun }) => agentRun?.requestId)).toEqual(
      children.map(({ requestId }) => requestId),
    );
    // The run’s own two turns, and one of each agent.
    expect([response.run?.inputTokens, response.run?.outputTokens]).toEqual([50, 50]);
    const [first] = model.asked;
    expect(first?.instructions).toContain('You supervise agents.');
    expect(first?.sideBySide).toEqual([ids.research]);
    const [turn] = await opened.all('agent.tool-calls');
    expect(turn?.record.decision).toMatchObject({
      strategy: 'supervisor',
      action: 'supervise',
      reason: '2 agents are offered.',
    });
    expect(response.decision?.reason).toBe('3 of 3 agents of the turn before answered.');
    expect(
      await opened.metric('sluice_strategy_decisions_total', { strategy: 'supervisor', action: 'supervise' }),
    ).toBe(2);
    expect(await unlike(opened)).toEqual([]);
    await caughtUp(opened.bus, opened.embedded.runtime.signatures);
    const { output } = await inProcess(audit, opened.embedded.runtime.environment, 'show', 'session-1');
    expect(output).toContain('supervisor decided supervise: 2 agents are offered.');
    const child = await inProcess(audit, opened.embedded.runtime.environment, 'show', children[1]?.sessionId ?? '');
    expect(child.output).toContain('called by the run run-1, side by side with 2 others');
  });

  it('divides what is left of tokens and money among them, and leaves itself time for its answer', async () => {
    const { opened, end } = await running(
      supervising(three, () => ({ answer: 'Done.' })),
      {
        policy: 'budgets: { tokens_per_run: 10000, usd_per_run: 1 }',
        model:
          'model: { provider: openai-compatible, name: m, base_url: "http://127.0.0.1:9/v1", max_output_tokens: 100, price: { input: 1, output: 1 } }',
        entry: 'timeout_seconds: 3600',
      },
    );
    const response = await end({ deadline: Date.now() + 100_000 });
    const children = await begun(opened);
    const parents = children.map(({ run }) => run.parent);
    // The first turn used 20.
    expect(parents.map((parent) => parent?.maxTokens)).toEqual([3_326, 3_326, 3_326]);
    expect(parents.map((parent) => parent?.maxMicroUsd)).toEqual([333_326, 333_326, 333_326]);
    const deadline = response.run?.deadline ?? 0;
    for (const { run } of children) {
      const startedAt = run.parent?.startedAt ?? 0;
      expect(run.deadline).toBe(Math.floor(startedAt + 0.8 * (deadline - startedAt)));
    }
    expect(response.error).toBeNull();
    expect(await unlike(opened)).toEqual([]);
  });

  it('answers by what the others found where one fails', async () => {
    const { opened, end } = await running(
      supervising(three, ({ question, history }) =>
        question === 'Two?' ? { calls: [[ids.now, `{"n":${history.length}}`]] } : { answer: `Answer to ${question}` },
      ),
      { agent: '{ group: [facts], max_iterations: 2 }' },
    );
    const response = await end();
    expect(short(response.history).map(([, outcome, reason]) => [outcome, reason])).toEqual([
      ['ok', null],
      ['execution', 'agent_budget_used'],
      ['ok', null],
    ]);
    expect(response.answer).toContain(
      'ok: Answer to One?\nexecution: The agent ended without an answer (max_iterations)',
    );
    expect(response.decision?.reason).toBe('2 of 3 agents of the turn before answered.');
    expect(await unlike(opened)).toEqual([]);
  });

  it('cancels the others at the first error where it is to stop, and goes on when they have ended', async () => {
    const { opened, end } = await running(
      supervising(three, ({ question }, signal) =>
        question === 'One?' ? { calls: [[ids.now, '{"bad":1}']] } : forever(signal),
      ),
      { agent: '{ group: [facts], max_iterations: 1 }', supervisor: '{ on_error: stop }' },
    );
    const response = await end();
    expect(short(response.history).map(([, outcome, reason]) => [outcome, reason])).toEqual([
      ['execution', 'agent_budget_used'],
      ['execution', 'agent_failed'],
      ['execution', 'agent_failed'],
    ]);
    expect(response.history[2]?.observation).toMatch(/\(cancelled\).*which ran beside it, ended with max_iterations\./);
    expect(response.error).toBeNull();
    expect(await unlike(opened)).toEqual([]);
  });

  it('never waits for a lost agent beyond that one’s time', async () => {
    const { opened, end } = await running(
      supervising([research('One?'), research('Lost?')], ({ question }, signal) =>
        question === 'Lost?' ? forever(signal) : { answer: 'Found.' },
      ),
      { entry: 'timeout_seconds: 3' },
    );
    const response = await end();
    expect(response.answer).toContain('ok: Found.\nexecution: The agent ended without an answer (deadline_exceeded)');
    expect(await unlike(opened)).toEqual([]);
  });

  it('is cancelled with the agents that it called', async () => {
    const together = barrier(2);
    let all = false;
    const { opened, end } = await running(
      supervising([research('One?'), research('Two?')], async (_, signal) => {
        await together();
        all = true;
        return forever(signal);
      }),
    );
    const ended = end();
    await eventually(
      () => Promise.resolve(all),
      (is) => is,
    );
    const record = {
      requestId: 'run-1',
      sessionId: 'session-1',
      reason: 'no longer needed',
      askedAt: Date.now(),
      mustExist: false,
      outcome: null,
    };
    await opened.bus.publish([{ topic: topics.cancellations, key: 'session-1', record }]);
    expect((await ended).error).toMatchObject({ code: 'cancelled' });
    const ends = (await opened.all('agent.responses')).map(({ record: { requestId, error } }) => [
      isAgentRunId(requestId) ? 'agent' : requestId,
      error?.code,
    ]);
    expect(ends).toEqual([
      ['agent', 'cancelled'],
      ['agent', 'cancelled'],
      ['run-1', 'cancelled'],
    ]);
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('what runs side by side (K-68)', () => {
  it('is agents that only read: other tools, and agents that change something, run one after another', async () => {
    const together = barrier(2);
    let writers = 0;
    const { opened, end } = await running(
      supervising(
        [now, research('One?'), research('Two?'), now, writer('Write'), writer('More')],
        async ({ question }) => {
          if (question === 'Write' || question === 'More') {
            expect(writers++ > 0).toBe(question === 'More');
            return { answer: 'Written.' };
          }
          await together();
          return { answer: `Answer to ${question}` };
        },
      ),
      { limits: 'limits: { calls_per_turn: 10 }' },
    );
    const response = await end();
    expect(response.history.map(({ action, outcome }) => [action, outcome])).toEqual([
      ...['now', 'research', 'research', 'now', 'writer', 'writer'].map((action) => [action, 'ok']),
    ]);
    expect((await begun(opened)).map(({ run: { parent } }) => [parent?.index, parent?.fanOut])).toEqual([
      [1, { first: 1, size: 2 }],
      [2, { first: 1, size: 2 }],
      [4, null],
      [5, null],
    ]);
    // What stands before a call in its turn has ended before it begins.
    const times = response.history.map(({ startedAt, endedAt }) => [startedAt, endedAt] as const);
    for (const [before, behind] of [
      [0, 1],
      [2, 3],
      [3, 4],
      [4, 5],
    ] as const)
      expect(times[before]?.[1]).toBeLessThanOrEqual(times[behind]?.[0] ?? 0);
    expect(await unlike(opened)).toEqual([]);
  });

  it('ends before a call that is refused, which is decided in its turn', async () => {
    const { opened, end } = await running(
      supervising([research('One?'), research('Two?'), research('Three?')], ({ question }) => ({ answer: question })),
      { policy: 'budgets: { tools: { research: { calls_per_run: 2 } } }' },
    );
    const response = await end();
    expect(short(response.history).map(([, outcome, reason]) => [outcome, reason])).toEqual([
      ['ok', null],
      ['ok', null],
      ['policy_denied', 'budget_used'],
    ]);
    expect((await begun(opened)).map(({ run }) => run.parent?.fanOut)).toEqual([
      { first: 0, size: 2 },
      { first: 0, size: 2 },
    ]);
    expect(await unlike(opened)).toEqual([]);
  });

  it('is nothing in a run of another strategy', async () => {
    const { opened, end } = await running(supervising(three, ({ question }) => ({ answer: question })));
    const response = await end({ strategy: 'react' });
    expect(response.answer).toBe('ok: One?\nok: Two?\nok: Three?');
    expect((await begun(opened)).map(({ run }) => run.parent?.fanOut)).toEqual([null, null, null]);
    expect(await unlike(opened)).toEqual([]);
  });
});

describe('the record of a fan-out', () => {
  it('is derived again: another size, or another budget, is seen', async () => {
    const { opened, end } = await running(supervising(three, ({ question }) => ({ answer: question })));
    await end();
    const wrong = async (change: (parent: { maxTokens: number | null; fanOut: object | null }) => object) => {
      const other = changed(opened.bus, (message) => {
        if (message.topic !== 'agent.steps' || message.record.run.parent?.index !== 1) return message;
        const { run } = message.record;
        const parent = { ...run.parent, ...change(message.record.run.parent) } as typeof run.parent;
        return { ...message, record: { ...message.record, run: { ...run, parent } } };
      });
      return (await replayed(other, null)).flatMap(({ kind, outcome }) => (outcome.kind === 'equal' ? [] : [kind]));
    };
    expect(await wrong(() => ({ fanOut: { first: 0, size: 2 } }))).toContain('agent begun');
    expect(await wrong(() => ({ maxTokens: 1 }))).toContain('agent begun');
  });
});

describe('the configuration of a supervisor', () => {
  it.each([
    [
      'agents that may be called',
      withSupervisor().replace("allowed_agents: ['*']", 'allowed_agents: []'),
      'no agent that may be called',
    ],
    [
      'agents of another strategy',
      withSupervisor({ agent: '{ group: [facts], strategy: supervisor }' }),
      'an agent, which may call no further one',
    ],
    ['a policy for errors that there is', withSupervisor({ supervisor: '{ on_error: retry }' }), 'on_error'],
  ])('needs %s', async (_, configuration, sentence) => {
    const model = supervising([], () => ({ answer: '' }));
    await expect(startSystem(configuration, model)).rejects.toThrow(sentence);
  });
});

describe('examples/agents/supervisor.yaml', () => {
  it('runs with the built-in rules, without any key', async () => {
    const example = readFileSync(join(projectRoot, 'examples/agents/supervisor.yaml'), 'utf8');
    const model = await new Models(() => undefined).get({
      ...{ provider: 'rules', name: null, baseUrl: null, apiKeyEnv: null, region: null, maxOutputTokens: 1 },
    });
    const { buildCountries } = (await import(
      pathToFileURL(join(projectRoot, 'examples/countries/build.mjs')).href
    )) as { buildCountries(file: string): Promise<number> };
    const folder = mkdtempSync(join(tmpdir(), 'sluice-countries-'));
    const data = join(folder, 'countries.nt');
    await buildCountries(data);
    system = await startSystem(example.replace('examples/countries/countries.nt', data), model);
    try {
      const question = 'Which countries border France, and what is the capital of Italy?';
      const { answer, history } = await system.ask({ question, group: ['helpers'] });
      expect(history.map(({ action, outcome, iteration }) => [action, outcome, iteration])).toEqual([
        ['research', 'ok', 1],
        ['research', 'ok', 1],
      ]);
      expect(answer).toMatch(/Germany[\s\S]*Rome/);
      expect((await begun(system)).map(({ run }) => run.parent?.fanOut)).toEqual([
        { first: 0, size: 2 },
        { first: 0, size: 2 },
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
