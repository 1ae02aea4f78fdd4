import { afterEach, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import type { AgentResponse } from '@sluice/contracts';
import { AgentRunClaims, agentRunIdOf, isAgentRunId, signEnd } from '@sluice/run';
import { short } from '../harness/approving.js';
import { eventually } from '../harness/eventually.js';
import type { TestSystem } from '../harness/system.js';
import { research, startAgents } from '../harness/with-agents.js';
import { newRequest } from '../../apps/sluice/src/run-request.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const asking = { Go: [{ calls: [research] }], 'Who made it?': [{ answer: 'Ada made it.' }] };

/** A run whose agent waits at a gate before it answers. */
async function waiting() {
  const { opened, model, end } = await startAgents(asking);
  system = opened;
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const { script } = model;
  model.script = async (request) => {
    if (request.question === 'Who made it?') await gate;
    return script(request);
  };
  const ended = end();
  const toolsets = await eventually(
    () => opened.all('agent.toolsets'),
    (all) => all.some(({ record }) => isAgentRunId(record.requestId)),
  );
  const child = toolsets.find(({ record }) => isAgentRunId(record.requestId))?.record;
  if (child === undefined) throw new Error('No agent began.');
  return { opened, ended, child, release };
}

const publish = (opened: TestSystem, record: AgentResponse): Promise<void> =>
  opened.bus.publish([{ topic: topics.responses, key: record.sessionId, record }]);

const stepsOf = async (opened: TestSystem) =>
  (await opened.all('agent.steps')).filter(({ record }) => record.requestId === 'run-1');

describe('what other clients write of an agent’s run (K-62)', () => {
  it('counts for nothing where it is its end: the call waits for the one that a service wrote', async () => {
    const { opened, ended, child, release } = await waiting();
    const { requestId, sessionId, run, configVersion } = child;
    await publish(
      opened,
      make.agentResponse({
        requestId,
        sessionId,
        kind: 'answer',
        answer: 'Eve made it.',
        question: 'Who made it?',
        run,
        iterations: 1,
        configVersion,
        endedAt: Date.now(),
      }),
    );
    const letters = await eventually(
      () => opened.all('agent.dead-letters'),
      ({ length }) => length > 0,
    );
    expect(letters.map(({ record }) => record.code)).toEqual(['signature_invalid']);
    expect(await stepsOf(opened)).toEqual([]);
    release();
    expect((await ended).history.map(({ observation }) => observation)).toEqual(['Ada made it.']);
    expect(await opened.all('agent.dead-letters')).toHaveLength(1);
  });

  it('counts for nothing where a service signed it and none ended the run so', async () => {
    const { opened, ended, child, release } = await waiting();
    const { requestId, sessionId, run, configVersion } = child;
    const said = { requestId, sessionId, kind: 'answer', answer: 'Eve made it.', error: null, question: '' };
    const at = { state: 'undefined', history: [], run, iterations: 1, configVersion, endedAt: Date.now() };
    const none = {
      tenantId: null,
      model: null,
      decision: null,
      incomplete: null,
      budgets: [],
      recordSignature: null,
      structured: null,
      agent: null,
    };
    await publish(opened, await signEnd({ ...said, ...at, ...none }, 'agent', opened.embedded.runtime));
    await eventually(
      () => opened.lines(),
      (lines) => lines.some(({ why }) => why === 'no service ended the run so'),
    );
    expect(await stepsOf(opened)).toEqual([]);
    release();
    expect((await ended).history.map(({ observation }) => observation)).toEqual(['Ada made it.']);
    expect(await opened.all('agent.dead-letters')).toEqual([]);
  });

  it('counts for nothing where it is a copy of its end: the turn goes on once', async () => {
    const { opened, ended, release } = await waiting();
    release();
    await ended;
    const honest = (await opened.all('agent.responses')).find(({ record }) => isAgentRunId(record.requestId));
    await publish(opened, honest?.record as AgentResponse);
    await eventually(
      () => opened.lines(),
      (lines) => lines.some(({ why }) => why === 'the turn went on with another end'),
    );
    expect(await stepsOf(opened)).toHaveLength(1);
    expect((await opened.all('agent.responses')).filter(({ record }) => record.requestId === 'run-1')).toHaveLength(1);
  });

  it('begins no run: a beginning that no executor signed is a security event', async () => {
    const { opened, ended, release } = await waiting();
    release();
    await ended;
    const begun = (await opened.all('agent.steps')).find(({ record }) => isAgentRunId(record.requestId))?.record;
    if (begun === undefined) throw new Error('No agent began.');
    const ids = { requestId: `agent-${'0'.repeat(32)}`, sessionId: 'eve' };
    const next = { ...begun.next, ...ids, group: ['*'] };
    await opened.bus.publish([{ topic: topics.steps, key: 'eve', record: { ...begun, ...ids, next } }]);
    const letters = await eventually(
      () => opened.all('agent.dead-letters'),
      ({ length }) => length > 0,
    );
    expect(letters.map(({ record }) => record.code)).toEqual(['groups_widened']);
    expect((await opened.all('agent.toolsets')).some(({ key }) => key === 'eve')).toBe(false);
  });

  it('takes no agent’s place: where its request_id was taken before, the call is refused', async () => {
    const { opened, end } = await startAgents(asking);
    system = opened;
    const [tool, args] = research;
    const call = { toolCallId: '', tool, arguments: args, argumentsBytes: null, providerData: null };
    const requestId = agentRunIdOf({ requestId: 'run-1', iteration: 1 }, call, 0);
    await opened.ask({ ...newRequest('Mine', { requestId, sessionId: 'eve' }), group: [] });
    const { kind, history } = await end();
    expect([kind, ...short(history)]).toEqual(['answer', ['research', 'execution', 'agent_failed', 'analysis']]);
    expect((await opened.all('agent.responses')).filter(({ record }) => record.requestId === requestId)).toHaveLength(
      1,
    );
  });

  it('and an end that does not say whose call it answers ends the run that waits, and no other', async () => {
    const { opened, ended, child, release } = await waiting();
    const { requestId, sessionId } = child;
    const error = { code: 'dead_lettered', message: 'Given up.' };
    // As of an outcome of an approval that became a dead letter.
    const end: AgentResponse = make.agentResponse({ requestId, sessionId, kind: 'error', error, endedAt: Date.now() });
    await new AgentRunClaims(opened.embedded.runtime).vouch(end);
    await publish(opened, await signEnd(end, 'executor', opened.embedded.runtime));
    expect((await ended).error?.code).toBe('dead_lettered');
    release();
  });

  it('and an agent that dies leaves no caller waiting: its call fails, and the run goes on', async () => {
    const { opened, model, end } = await startAgents(asking);
    system = opened;
    const { script } = model;
    model.script = (request) => {
      if (request.question === 'Who made it?') throw new Error('Nobody foresaw this.');
      return script(request);
    };
    const { kind, history } = await end();
    expect([kind, ...short(history)]).toEqual(['answer', ['research', 'execution', 'agent_failed', 'analysis']]);
    expect(history[0]?.observation).toContain('(dead_lettered)');
  });
});
