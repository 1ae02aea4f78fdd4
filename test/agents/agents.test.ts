import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256 } from '@sluice/contracts';
import { isAgentRunId } from '@sluice/run';
import { asked, decide, short } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import type { TestSystem } from '../harness/system.js';
import { ids, research, startAgents } from '../harness/with-agents.js';
import { replayed } from '../replay/replaying.js';

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

/** What a replay does not find as it was recorded. */
async function unlike({ bus }: TestSystem): Promise<unknown[]> {
  const found = await replayed(bus, null);
  // Without keys nobody can say who signed.
  const own = found.map((one) => ({ ...one, outcome: one.outcome }));
  return own.filter(({ outcome }) => outcome.kind !== 'equal');
}

describe('a call of an agent (K-62)', () => {
  it('is a run of its own, whose answer is the call’s result; the turn goes on behind it', async () => {
    const { opened, model, end } = await running({
      Go: [{ thought: 'Ask', calls: [calls.analysis, research, text] }],
      'Who made it?': [{ calls: [text] }, { answer: 'Ada made it.' }],
    });
    const response = await end();
    expect(short(response.history)).toEqual([
      ['complex-analysis', 'ok', null, 'results'],
      ['research', 'ok', null, 'results'],
      ['text-completion', 'ok', null, 'undefined'],
    ]);
    expect(response.history[1]?.observation).toBe('Ada made it.');
    const asked = model.asked.map(({ question }) => question).filter((question) => question !== 'Say so');
    expect(asked).toEqual(['Go', 'Who made it?', 'Who made it?', 'Go']);
    expect(await opened.all('agent.dead-letters')).toEqual([]);

    const [begun] = await opened.all('agent.steps');
    const { requestId, run, steps, next } = begun?.record ?? {};
    expect([isAgentRunId(requestId ?? ''), begun?.key, steps]).toEqual([true, requestId, []]);
    const [parked] = await opened.all('agent.tool-calls');
    expect(run?.parent).toMatchObject({
      ...{ tool: ids.research, requestId: 'run-1', sessionId: 'session-1', toolCallId: 'call-1', index: 1 },
      ...{ partition: parked?.partition, offset: parked?.offset },
    });
    expect(short(run?.parent?.steps ?? [])).toEqual([['complex-analysis', 'ok', null, 'results']]);
    expect([next?.group, run?.principal]).toEqual([['text', 'agents'], response.run?.principal]);
    // Two turns of its own, two of the agent’s; the text completion’s are counted nowhere.
    expect(response.history[1]?.agentRun).toMatchObject({ requestId, inputTokens: 2, outputTokens: 2 });
    expect([response.run?.inputTokens, response.run?.outputTokens]).toEqual([4, 4]);
    expect(response.run?.toolCalls).toEqual({ [ids.analysis]: 1, [ids.research]: 1, [ids.text]: 1 });
    const progress = (await opened.all('agent.progress')).map(({ record }) => record.text);
    expect(progress).toContain(`runs as an agent of its own: ${requestId}`);
    expect(await unlike(opened)).toEqual([]);
  });

  it('may be followed by another one in its turn, and by an approval: each goes on where the other ended', async () => {
    const other = [ids.research, '{"question":"And who paid?"}'] as const;
    const approval = "\n  approval: { approvers: ['*'], effects: [state_change] }";
    const { opened, end } = await running(
      { Go: [{ calls: [research, calls.analysis, other, calls.reset, text] }], 'And who paid?': [{ answer: 'Bob.' }] },
      undefined,
      { policy: approval },
    );
    const ended = end();
    await decide(opened, await asked(opened), 'approve');
    const response = await ended;
    expect(response.history.map(({ observation, outcome }) => [outcome, observation.slice(0, 22)])).toEqual([
      ['ok', 'That was “Who made it?'],
      ['ok', expect.any(String)],
      ['ok', 'Bob.'],
      ['ok', expect.any(String)],
      ['ok', expect.any(String)],
    ]);
    expect([response.run?.inputTokens, response.run?.outputTokens]).toEqual([4, 4]);
    expect((await opened.all('agent.steps')).filter(({ record }) => record.requestId === 'run-1')).toHaveLength(1);
    expect(await unlike(opened)).toEqual([]);
  });

  it('may wait for people in its own run: that uses up neither its time nor its caller’s', async () => {
    const { opened, end } = await running(
      {
        Go: [{ calls: [[ids.research, '{"question":"Who knows?"}']] }],
        'Who made it?': [{ calls: [text] }, { answer: 'Ada made it.' }],
      },
      undefined,
      {
        policy: "\n  approval: { approvers: ['*'], effects: [read_only] }",
        limits: 'limits: { run_seconds: 4, tool_seconds: 4 }',
        entry: 'timeout_seconds: 3',
      },
    );
    const ended = end();
    // The call of the agent, which is asked something else, and what the agent calls.
    const [, question] = research;
    const edit = { editedArguments: question, editedHash: sha256(question) };
    await decide(opened, await asked(opened), 'approve', edit);
    const own = await asked(opened, 2);
    const [called] = await opened.all('agent.tool-calls');
    const deadline = called?.record.run.deadline ?? 0;
    await new Promise((resolve) => setTimeout(resolve, deadline + 200 - Date.now()));
    await decide(opened, own, 'approve');
    const { kind, run, history } = await ended;
    expect([kind, history[0]?.observation]).toEqual(['answer', 'Ada made it.']);
    expect(history[0]?.edited).toMatchObject({ arguments: question, editedBy: 'user:ann' });
    expect(run?.parkedMs).toBeGreaterThan(deadline - own.requested.requestedAt);
    expect(run?.deadline).toBe(deadline + (run?.parkedMs ?? 0));
    expect(await unlike(opened)).toEqual([]);
  });

  it('waits in no process: it goes on after a stop and a start while the agent works', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { opened, model, end } = await running({ Go: [{ calls: [calls.analysis, research] }] });
    const { script } = model;
    model.script = async (request) => {
      if (request.question === 'Who made it?') await gate;
      return script(request);
    };
    void end().catch(() => undefined);
    await eventually(
      () => opened.all('agent.toolsets'),
      (toolsets) => toolsets.some(({ record }) => isAgentRunId(record.requestId)),
    );
    const restarting = opened.restart();
    release();
    system = await restarting;
    const response = await system.responseOf('run-1');
    expect(short(response.history)).toEqual([
      ['complex-analysis', 'ok', null, 'results'],
      ['research', 'ok', null, 'results'],
    ]);
    // What was done before it is not done again.
    const begun = (await system.all('agent.progress')).filter(({ record }) => record.kind === 'tool_call_start');
    expect(begun.map(({ record }) => record.tool)).toEqual(['complex-analysis', 'research']);
    expect((await system.all('agent.steps')).filter(({ record }) => record.requestId === 'run-1')).toHaveLength(1);
  });
});
