import { afterEach, describe, expect, it } from '@jest/globals';
import { Fault } from '@sluice/core';
import type { ClaimRequest, Ledger } from '@sluice/core';
import type { AgentResponse } from '@sluice/contracts';
import { run as deadLetters } from '../../apps/sluice/src/commands/dead-letters.js';
import { asked, decide, short } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { eventually } from '../harness/eventually.js';
import { inProcess } from '../harness/in-process.js';
import type { TestSystem } from '../harness/system.js';
import { research, startAgents } from '../harness/with-agents.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const asking = { Go: [{ calls: [research] }], 'Who made it?': [{ answer: 'Ada made it.' }] };

/** A run with an agent, in a system whose ledger does not answer for keys with these beginnings, until it is mended. */
async function cutOff(...beginnings: readonly string[]) {
  return cut(await startAgents(asking), beginnings);
}

async function cut(started: Awaited<ReturnType<typeof startAgents>>, beginnings: readonly string[]) {
  const { opened } = started;
  system = opened;
  const { runtime } = opened.embedded;
  const ledger = runtime.ledger as { claim: Ledger['claim'] };
  const { claim } = ledger;
  ledger.claim = (request: ClaimRequest) =>
    beginnings.some((beginning) => request.key.startsWith(beginning))
      ? Promise.reject(new Fault('ledger_unreachable', 'The ledger does not answer.', false))
      : claim.call(runtime.ledger, request);
  const ended = started.end();
  const [letter] = await eventually(
    () => opened.all('agent.dead-letters'),
    ({ length }) => length > 0,
  );
  const id = `${letter?.partition}/${letter?.offset}`;
  const redrive = async () => {
    ledger.claim = claim;
    return inProcess(deadLetters, runtime.environment, 'redrive', id);
  };
  return { ...started, ended, letter: letter?.record, redrive };
}

/** The answer of the run, which may have ended with a dead letter before. */
async function answerOf(opened: TestSystem): Promise<AgentResponse> {
  const answers = await eventually(
    async () => (await opened.all('agent.responses')).filter(({ record }) => record.requestId === 'run-1'),
    (responses) => responses.some(({ record }) => record.kind === 'answer'),
  );
  return answers.at(-1)?.record as AgentResponse;
}

describe('what an agent’s caller waits for, lost while the ledger was away', () => {
  it.each([
    ['its end, with which the turn could not go on', 'agent.responses', ['resumed/']],
    ['a turn of it, whose end nobody could vouch for', 'agent.toolsets', ['turn/agent.toolsets/agent-', 'ended/']],
  ])('comes once it is re-driven: %s', async (_, topic, beginnings) => {
    const { opened, ended, letter, redrive } = await cutOff(...beginnings);
    expect([letter?.topic, letter?.code]).toEqual([topic, 'ledger_unreachable']);
    expect((await opened.all('agent.responses')).some(({ record }) => record.requestId === 'run-1')).toBe(false);
    expect(await redrive()).toMatchObject({ code: 0, output: expect.stringContaining('1 re-driven, 0 not.') });
    const { kind, history } = await ended;
    expect([kind, ...short(history)]).toEqual(['answer', ['research', 'ok', null, 'analysis']]);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('a turn that waits twice and is re-driven in between', () => {
  const approval = "\n  approval: { approvers: ['*'], effects: [state_change] }";
  /** The run’s time bounds each wait, so that what was asked and begun says which time the turn had. */
  const bounded = { policy: approval, entry: 'timeout_seconds: 900', limits: 'limits: { run_seconds: 300 }' };
  const waiting = (...turn: readonly (readonly [string, string])[]) =>
    startAgents({ Go: [{ calls: turn }], 'Who made it?': [{ answer: 'Ada made it.' }] }, undefined, bounded);

  it.each([
    ['for an approval, then for an agent', [calls.reset, research], 'resumed/a-'],
    ['for an agent, then for an approval', [research, calls.reset], 'resumed/agent-'],
  ] as const)('keeps the time of the new attempt: %s', async (_, turn, beginning) => {
    const approvalFirst = turn[0] === calls.reset;
    const started = await waiting(...turn);
    const approving = approvalFirst
      ? asked(started.opened).then((one) => decide(started.opened, one, 'approve'))
      : null;
    const { opened, ended, redrive } = await cut(started, [beginning]);
    await approving;
    if (approvalFirst) expect(await ended).toMatchObject({ kind: 'error', error: { code: 'dead_lettered' } });
    await redrive();
    if (!approvalFirst) await decide(opened, await asked(opened), 'approve');
    const { run, history } = await answerOf(opened);
    await ended;
    const [began] = await opened.all('agent.toolsets');
    expect(history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    const [letter] = await opened.all('agent.dead-letters');
    expect(run?.redrive).toBe(`${letter?.partition}/${letter?.offset}`);
    expect(run?.deadline).toBe((run?.startedAt ?? 0) + 300_000 + (run?.parkedMs ?? 0));
    expect(run?.startedAt).toBeGreaterThan(began?.record.run.startedAt ?? Infinity);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});

describe('a call that was parked twice, since the turn died when it had been and was re-driven', () => {
  const approval = "\n  approval: { approvers: ['*'], effects: [state_change] }";

  it.each([
    ['for an agent', [research, calls.reset], 'settle', 'request/agent-'],
    ['for an approval', [calls.reset, research], 'claim', 'asked/'],
  ] as const)('goes on with the turn that was parked last: %s', async (_, turn, act, beginning) => {
    const scripts = { Go: [{ calls: turn }], 'Who made it?': [{ answer: 'Ada made it.' }] };
    const { opened, end } = await startAgents(scripts, undefined, { policy: approval });
    system = opened;
    const { runtime } = opened.embedded;
    const { claim, settle } = runtime.ledger;
    const died = new Fault('ledger_unreachable', 'The ledger took it, and did not say so.', false);
    const dying = async <T>(key: string, done: Promise<T>): Promise<T> => {
      const answer = await done;
      if (key.startsWith(beginning)) throw died;
      return answer;
    };
    Object.assign(
      runtime.ledger,
      act === 'claim'
        ? { claim: (asking: ClaimRequest) => dying(asking.key, claim(asking)) }
        : { settle: (...given: Parameters<Ledger['settle']>) => dying(given[0], settle(...given)) },
    );
    expect(await end()).toMatchObject({ kind: 'error', error: { code: 'dead_lettered' } });
    Object.assign(runtime.ledger, { claim, settle });
    const [letter] = await opened.all('agent.dead-letters');
    expect([letter?.record.topic, letter?.record.code]).toEqual(['agent.tool-calls', 'ledger_unreachable']);
    const id = `${letter?.partition}/${letter?.offset}`;
    expect(await inProcess(deadLetters, runtime.environment, 'redrive', id)).toMatchObject({ code: 0 });

    const one = await asked(opened);
    await decide(opened, one, 'approve');
    const { run, history } = await answerOf(opened);
    const [first, last] = (await opened.all('agent.tool-calls')).filter(({ record }) => record.requestId === 'run-1');
    expect(last?.offset).toBeGreaterThan(first?.offset ?? Infinity);
    const began = (await opened.all('agent.steps')).flatMap(({ record }) => record.run.parent ?? [])[0];
    expect([one.requested.offset, began?.offset]).toEqual([last?.offset, last?.offset]);
    expect([run?.redrive, ...short(history).map(([, outcome]) => outcome)]).toEqual([id, 'ok', 'ok']);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  });
});
