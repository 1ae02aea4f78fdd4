import { describe, expect, it } from '@jest/globals';
import { beginRun, localPrincipal } from '@sluice/core';
import { make, sha256 } from '@sluice/contracts';
import type { CallDecision } from '@sluice/contracts';
import { entriesOf } from '@sluice/audit';
import type { Source } from '@sluice/audit';

const limits = { maxIterations: 10, runMs: 60_000, historyBytes: 1_000 };
const ids = { requestId: 'r', sessionId: 's' };
const own = { tool: 'a', arguments: '{}', order: null };
const request = { ...make.agentRequest({ question: 'Call a' }), ...ids, call: own, state: 'begun' };
const run = beginRun(request, ['basic'], 'begun', limits, localPrincipal, 1);
const decided = make.callDecision({
  decidedAt: 1_000,
  groups: ['basic', 'more'],
  hidden: ['state'],
  hiddenCounts: { state: 1 },
  fallbackGroups: ['more'],
  listHash: 'lh',
});
const step = make.agentStep({ action: 'a', arguments: '{}', stateBefore: 'begun', state: 'done', iteration: 1 });
const turn = { ...ids, iteration: 1, run, configVersion: 'c' };

const entries = (topic: string, record: object) => {
  const place = { topic, partition: 0, offset: 0, key: 's', headers: {}, timestamp: 1 };
  return entriesOf({ ...place, record } as unknown as Source, { tools: () => undefined, authentic: true }).map(
    ({ kind, details }) => ({ kind, details: JSON.parse(details) as Record<string, unknown> }),
  );
};
const result = (call: CallDecision | null) =>
  entries('agent.steps', make.agentStepResult({ ...turn, steps: [step], next: request, call }));
const said = {
  permitted_groups: localPrincipal.groups,
  granted_groups: ['basic', 'more'],
  offered_hash: 'lh',
  hidden: ['state'],
  hidden_counts: { state: 1 },
  fallback_groups: ['more'],
  decided_at: '1970-01-01T00:00:01.000Z',
  question_hash: sha256('Call a'),
};

describe('the entries of a call that its request makes itself', () => {
  it('have the decision beside the call and the change of state', () => {
    const [call, transition, ...more] = result(decided);
    expect([call?.kind, transition?.kind, more]).toEqual(['tool_call', 'state_transition', []]);
    expect(call?.details).toMatchObject({ requested_groups: ['basic'], state_before: 'begun', decided: said });
    expect(transition?.details).not.toHaveProperty('decided');
  });

  it('have it with the turn, where the call waits, and where it has no step', () => {
    const [chosen] = entries('agent.tool-calls', {
      ...make.toolCall({ ...turn, thought: '', calls: [], request, groups: [] }),
      call: decided,
    });
    expect(chosen).toMatchObject({
      kind: 'calls_chosen',
      details: { requested_groups: ['basic'], state: 'begun', decided: said },
    });
    const none = make.agentStepResult({ ...turn, steps: [], next: request, call: decided });
    expect(entries('agent.steps', none)).toMatchObject([{ kind: 'turn_without_calls', details: { decided: said } }]);
  });

  it('are as they were for every other turn', () => {
    for (const { details } of result(null)) expect(details).not.toHaveProperty('decided');
    const [chosen] = entries(
      'agent.tool-calls',
      make.toolCall({ ...turn, thought: '', calls: [], request, groups: [] }),
    );
    for (const name of ['decided', 'requested_groups', 'state']) expect(chosen?.details).not.toHaveProperty(name);
  });
});
