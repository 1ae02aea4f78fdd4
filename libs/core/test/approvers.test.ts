import { describe, expect, it } from '@jest/globals';
import { decisionsOpenTo, judgeDecision, judgeStanding, isSamePerson, standingFor } from '@sluice/core';
import type { AskingRule, ConfiguredTool, Decider, Policy, StandingApproval } from '@sluice/core';

const ann: Decider = { actorId: 'user:ann', tenantId: 'acme', subjectId: null };
const policy = {
  approvers: ['*'],
  requesterMayNotApprove: true,
  approvalEffects: ['state_change'],
  approvalMs: 1_000,
} as unknown as Policy;

describe('persons who approve', () => {
  it.each([
    [{ actorId: 'user:ann' }, true],
    [{ actorId: 'user:Ann' }, true],
    [{ actorId: 'user:\uff41nn' }, true],
    [{ actorId: 'agent:desk', subjectId: 'user:ann' }, true],
    [{ actorId: 'agent:desk', subjectId: 'user:bob' }, false],
    [{ actorId: 'user:anna' }, false],
  ])('%j is the one who has approved: %s', (other, isSame) => {
    expect([isSamePerson(ann, other), isSamePerson(other, ann)]).toEqual([isSame, isSame]);
    const rule: AskingRule = {
      ...{ rule: 'rule', name: 'twice', message: '', quorum: 2, approvers: ['*'] },
      ...{ escalatesAt: null, escalateTo: [], onExpiry: 'refuse' },
    };
    const asked = {
      ...{ approvalId: 'a-1', argumentsHash: 'h', requestedBy: 'agent:x', onBehalfOf: 'user:eve', tenantId: 'acme' },
      ...{ requestedAt: 0, expiresAt: 100, rules: [rule] },
    };
    const given = [{ by: ann.actorId, rules: ['twice'] }];
    const open = decisionsOpenTo(asked, { ...other, tenantId: 'acme' }, policy, 1, given);
    expect(open).toEqual(isSame ? ['refuse'] : ['approve', 'refuse']);
    // Nor does one who asked count by another name.
    const written = { approvalId: 'a-1', argumentsHash: 'h', decision: 'approve', isEditSound: true };
    const own = { ...asked, onBehalfOf: 'user:ann' };
    expect(judgeDecision(own, written, { ...other, tenantId: 'acme' }, 1, policy)).toBe(isSame ? 'own_call' : null);
  });
});

describe('whom a standing approval is for', () => {
  const tool = { id: 't', key: 't', spec: { effect: 'state_change', inputSchema: {} } } as unknown as ConfiguredTool;
  const given = { id: 's-1', tool: 't', bounds: null, session: '', user: '', until: 1_000, calls: 1 };
  const judged = (who: Partial<typeof given>, decider: Decider) =>
    judgeStanding({ ...given, ...who }, decider, 1, { policy, tools: [tool] });
  const local = { actorId: 'user:ann', tenantId: null };

  it('is a user where an identity is configured, and else a session will do', () => {
    expect(judged({ session: 's' }, ann)).toBe('invalid_standing');
    expect(judged({ session: 's' }, local)).toBeNull();
    expect(judged({}, local)).toBe('invalid_standing');
    for (const session of ['', 's']) expect(judged({ user: 'user:bob', session }, ann)).toBeNull();
    for (const user of ['user:ann', 'user:ANN']) expect(judged({ user }, ann)).toBe('own_call');
  });

  it('is that user alone, and in that session alone where one is named', () => {
    const kept: StandingApproval = {
      ...given,
      givenBy: 'user:boss',
      givenAs: ['*'],
      reason: '',
      givenAt: 0,
      revoked: null,
    };
    const call = {
      ...{ tool, args: {}, session: 's', actorId: 'user:bob', subjectId: null, isIdentified: true },
      ...{ facts: { claims: {} } as never, asks: [{ quorum: 1, approvers: ['*'] }] },
    };
    const passes = (who: Partial<StandingApproval>, by: Partial<typeof call> = {}) =>
      standingFor([{ ...kept, ...who }], { ...call, ...by }, 1, policy).length === 1;
    // As one that was given before there was an identity.
    expect([passes({ session: 's' }), passes({ session: 's' }, { isIdentified: false })]).toEqual([false, true]);
    expect([passes({ user: 'user:bob' }), passes({ user: 'user:eve' })]).toEqual([true, false]);
    const both = { user: 'user:bob', session: 's' };
    expect([passes(both), passes(both, { session: 'other' }), passes(both, { actorId: 'user:eve' })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(passes({ user: 'user:bob', givenBy: 'agent:desk', givenFor: 'user:Bob' })).toBe(false);
  });
});
