import { afterEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import { deadlineKept } from '@sluice/run';
import { asked, decide, short } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import { startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { scripted } from '../harness/with-agents.js';
import type { Scripts } from '../harness/with-agents.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

/** Each agent works with the group of the next one, the last one with the clock; `more` is of `policy`. */
const configuration = ({ depth = 3, agent = '', more = '', limits = '' } = {}): string => `
tool:
  first: { type: agent, group: [ask], agent: { group: [one] ${agent} } }
  second: { type: agent, group: [one], agent: { group: [two] } }
  third: { type: agent, group: [two], agent: { group: [three] } }
  fourth: { type: agent, group: [three], agent: { group: [work] } }
  now: { type: get_current_time, group: [three, work] }
policy:
  allowed_tools: ['*']
  allowed_agents: ['*']
  agent_depth: ${depth}
  ${more}
${limits}
`;

const call = (tool: string, question: string) => [`core__${tool}`, JSON.stringify({ question })] as const;
const now = ['core__now', '{}'] as const;
/** `Go` is asked of the run, `A` of the first agent, and so on. */
const levels: Scripts = {
  Go: [{ calls: [call('first', 'A')] }, { answer: 'All said.' }],
  A: [{ calls: [call('second', 'B')] }, { answer: 'A said.' }],
  B: [{ calls: [call('third', 'C')] }, { answer: 'B said.' }],
  C: [{ calls: [now] }, { answer: 'C said.' }],
};

async function running(scripts: Scripts, ...given: Parameters<typeof configuration>) {
  const model = scripted(scripts);
  const opened = (system = await startSystem(configuration(...given), model));
  const end = (): Promise<AgentResponse> => opened.ask({ group: ['ask'], requestId: 'run-1', sessionId: 'session-1' });
  return { opened, model, end };
}

/** The beginnings of the agents’ runs, the outer one first. */
const beginnings = async (opened: TestSystem) =>
  (await opened.all('agent.steps')).flatMap(({ record }) => (record.iteration === 0 ? [record] : []));

const unlike = async ({ bus }: TestSystem) =>
  (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');

describe('agents that call agents (K-64)', () => {
  it('answer through all levels, and each run counts what those within it used', async () => {
    const { opened, end } = await running(levels);
    const response = await end();
    expect([response.answer, response.history[0]?.observation]).toEqual(['All said.', 'A said.']);
    const begun = await beginnings(opened);
    expect(begun.map(({ run }) => [run.parent?.tool, run.parent?.requestId, run.parent?.outer])).toEqual([
      ['core__first', 'run-1', null],
      ['core__second', begun[0]?.requestId, [{ tool: 'core__first', requestId: 'run-1' }]],
      [
        'core__third',
        begun[1]?.requestId,
        [
          { tool: 'core__second', requestId: begun[0]?.requestId },
          { tool: 'core__first', requestId: 'run-1' },
        ],
      ],
    ]);
    const ends = await opened.all('agent.responses');
    expect(ends.map(({ record }) => [record.answer, record.run?.inputTokens])).toEqual([
      ['C said.', 2],
      ['B said.', 4],
      ['A said.', 6],
      ['All said.', 8],
    ]);
    expect(response.history[0]?.agentRun).toMatchObject({ inputTokens: 6, outputTokens: 6 });
    expect(begun.every(({ run }) => run.deadline <= (response.run?.deadline ?? 0))).toBe(true);
    expect(await opened.all('agent.dead-letters')).toEqual([]);
    expect(await unlike(opened)).toEqual([]);
  });

  it('are offered no agent at the depth, and call none', async () => {
    const { opened, end } = await running({ ...levels, C: [{ calls: [call('fourth', 'D')] }] });
    expect((await end()).answer).toBe('All said.');
    const toolsets = await opened.all('agent.toolsets');
    const [, , , lowest] = toolsets;
    expect(lowest?.record.run.parent?.tool).toBe('core__third');
    expect(lowest?.record.tools.map(({ id }) => id)).toEqual(['core__now']);
    expect(lowest?.record.hidden).toContainEqual({ key: 'fourth', reasons: ['depth'] });
    const [ended] = await opened.all('agent.responses');
    expect(short(ended?.record.history ?? [])).toEqual([['fourth', 'policy_denied', 'nested_agent', 'undefined']]);
    expect(ended?.record.history[0]?.observation).toContain('agents call agents 3 levels deep at most');
  });

  it('are cancelled with the run that everything began with, down to the lowest', async () => {
    const { opened, model, end } = await running(levels);
    const { script } = model;
    model.script = (request) => (request.question === 'C' ? new Promise<never>(() => undefined) : script(request));
    const turn = model.turn.bind(model);
    model.turn = (request, ...rest: unknown[]) => {
      const { signal } = rest[0] as { signal: AbortSignal };
      const broken = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
      return Promise.race([turn(request), broken]);
    };
    const ended = end();
    await eventually(
      () => Promise.resolve(model.asked),
      (requests) => requests.some(({ question }) => question === 'C'),
    );
    const record = Buffer.from(JSON.stringify({ request_id: 'run-1', reason: 'Enough.' }));
    await opened.bus.appendRaw(topics.cancellations, 'run-1', record, {});
    expect((await ended).error).toEqual({ code: 'cancelled', message: 'The run was cancelled by its caller: Enough.' });
    const ends = await opened.all('agent.responses');
    expect(ends.map(({ record: one }) => one.error?.code)).toEqual(Array(4).fill('cancelled'));
    expect(await unlike(opened)).toEqual([]);
  });

  it.each([
    ['its own tokens', { agent: ', tokens: 11' }, 11],
    ['the tokens of the run', { more: 'budgets: { tokens_per_run: 400000 }' }, 399_998],
  ])('have at each level no more than is left above: %s', async (_, given, most) => {
    const endless = Array.from({ length: 20 }, () => ({ calls: [now] }));
    const { opened, end } = await running({ ...levels, ...('agent' in given ? { C: endless } : {}) }, given);
    await end();
    const begun = await beginnings(opened);
    // Each has used two tokens in its first turn.
    expect(begun.map(({ run }) => run.parent?.maxTokens)).toEqual([most, most - 2, most - 4]);
    const [lowest, ...others] = await opened.all('agent.responses');
    if (!('agent' in given)) return;
    expect([lowest?.record.error?.code, lowest?.record.iterations]).toEqual(['budget_exceeded', 4]);
    // What the lowest used beyond is used in all: none of them asks its model again.
    expect(others.map(({ record }) => record.error?.code)).toEqual(['budget_exceeded', 'budget_exceeded', undefined]);
  });

  it('may wait for people at the lowest level, which uses up the time of none', async () => {
    const { opened, end } = await running(levels, {
      more: "approval: { approvers: ['*'], rules: { clock: { tools: [now] } } }",
      limits: 'limits: { run_seconds: 4, tool_seconds: 4 }',
    });
    const ended = end();
    const waiting = await asked(opened);
    const [called] = await opened.all('agent.tool-calls');
    const deadline = called?.record.run.deadline ?? 0;
    // The filter ends none of them at its own deadline.
    const runs = ['run-1', ...(await beginnings(opened)).map(({ requestId }) => requestId)];
    for (const requestId of runs) {
      const kept = await deadlineKept({ requestId, tenant: 'local' }, opened.embedded.runtime);
      expect(kept).toBeGreaterThan(deadline);
    }
    await new Promise((resolve) => setTimeout(resolve, deadline + 200 - Date.now()));
    await decide(opened, waiting, 'approve');
    const { answer, run } = await ended;
    expect(answer).toBe('All said.');
    expect(run?.deadline).toBe(deadline + (run?.parkedMs ?? 0));
    expect(await unlike(opened)).toEqual([]);
  });
});
