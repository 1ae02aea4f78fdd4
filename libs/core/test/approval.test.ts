import { describe, expect, it } from '@jest/globals';
import {
  countsFor,
  deciderBy,
  isRejectionReason,
  judgeDecision,
  rejectionReasons,
  redactArguments,
} from '@sluice/core';
import type { JsonValue, WrittenDecision } from '@sluice/core';
import { readCases } from '../../configuration/test/read-cases.js';

interface Case {
  readonly name: string;
  readonly requirements: string;
  readonly decision: Partial<WrittenDecision>;
  /** Null: nobody who could be authenticated. */
  readonly by?: string | null;
  readonly tenant?: string;
  /** The service that brings it. */
  readonly through?: string;
  readonly approvers?: readonly string[];
  readonly ownCallsRefused?: boolean;
  readonly nothingAsked?: boolean;
  readonly at?: number;
  readonly reason?: string;
}

describe('a decision on an approval', () => {
  const cases = readCases<readonly Case[]>('decisions.yaml');
  const asked = {
    approvalId: 'a-1',
    argumentsHash: 'hash',
    requestedBy: 'agent:planner',
    onBehalfOf: 'user:ann',
    tenantId: 'acme',
    requestedAt: 0,
    expiresAt: 100,
    rules: [],
  };
  const usual = { approvalId: 'a-1', argumentsHash: 'hash', decision: 'approve', isEditSound: true };

  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const policy = {
      approvers: one.approvers ?? ['user:bob', 'user:ann', 'agent:planner'],
      requesterMayNotApprove: one.ownCallsRefused ?? false,
      decideFor: { 'service:desk': ['user:b*'] },
    };
    const brought = one.through === undefined ? {} : { through: { actorId: one.through } };
    const reason = judgeDecision(
      one.nothingAsked === true ? null : asked,
      { ...usual, ...one.decision },
      one.by === null ? null : { actorId: one.by ?? 'user:bob', tenantId: one.tenant ?? null, ...brought },
      one.at ?? 1,
      policy,
    );
    expect(reason).toBe(one.reason ?? null);
  });

  it.each([
    ['group:finance', true],
    ['group:fin', false],
    ['group:*', false],
    ['role:treasurer', true],
    ['role:finance', false],
    ['claim:department=money', true],
    ['claim:realm.level=3', true],
    ['claim:department=other', false],
    ['claim:absent=', false],
    ['user:bob', true],
    ['*', true],
  ])('counts for the entry %s by what the credential says: %s', (entry, counts) => {
    const decider = deciderBy({
      principal: { actorId: 'user:bob', tenantId: 'acme', subjectId: null, groups: ['finance'], connections: [] },
      roles: ['treasurer'],
      claims: { department: ['money', 'law'], realm: { level: 3 } },
    });
    const policy = { approvers: [entry], requesterMayNotApprove: false };
    expect(judgeDecision(asked, { ...usual, isEditSound: true }, decider, 1, policy) === null).toBe(counts);
    const { decidedAs } = countsFor(asked, 'approve', decider, 1, policy);
    expect(decidedAs).toEqual(counts && /^(group|role|claim):/.test(entry) ? [entry] : []);
    // Where there is no identity, a name alone proves nothing of these.
    const local = { actorId: entry, tenantId: null };
    const isName = !/^(group|role|claim):/.test(entry);
    expect(judgeDecision(asked, { ...usual, isEditSound: true }, local, 1, policy) === null).toBe(isName);
  });

  it('on what waits for an answer of its caller is that of the caller for the same person alone', () => {
    const waits = { ...asked, requestedBy: 'service:chat', onBehalfOf: 'user:ann', question: {} };
    const by = (more: object) => ({
      actorId: 'service:chat',
      subjectId: 'user:ann',
      tenantId: asked.tenantId,
      ...more,
    });
    const policy = { approvers: ['*'], requesterMayNotApprove: false };
    const reasonOf = (more: object) => judgeDecision(waits, { ...usual, isEditSound: true }, by(more), 1, policy);
    expect(reasonOf({})).toBeNull();
    for (const more of [{ subjectId: 'user:bob' }, { subjectId: null }, { actorId: 'user:ann' }, { tenantId: 'other' }])
      expect(reasonOf(more)).toBe('not_an_approver');
    expect(reasonOf({ tenantId: null, subjectId: null })).toBeNull();
  });

  it('has a reason for each way not to count', () => {
    const shown = new Set(cases.flatMap(({ reason = [] }) => reason));
    expect(Object.keys(rejectionReasons).filter((reason) => !shown.has(reason))).toEqual(['already_decided']);
    expect([isRejectionReason('own_call'), isRejectionReason('constructor')]).toEqual([true, false]);
  });
});

describe('arguments that need an approval', () => {
  const secret = { type: 'string', writeOnly: true };
  const schema: JsonValue = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      pin: { type: 'string', format: 'password' },
      all: { type: 'array', items: { type: 'object', properties: { key: secret } } },
      more: { type: 'object', additionalProperties: secret },
    },
  };

  it('are shown without what the schema calls secret, at any depth', () => {
    const args = { name: 'x', pin: '4711', all: [{ key: 'k', n: 1 }, { n: 2 }], more: { a: 'b' }, other: ['y', null] };
    expect(redactArguments(args, schema)).toEqual({
      name: 'x',
      pin: '[redacted]',
      all: [{ key: '[redacted]', n: 1 }, { n: 2 }],
      more: { a: '[redacted]' },
      other: ['y', null],
    });
  });

  it.each<JsonValue>([null, 7, 'x', [], {}])('stay as they are where nothing is secret: %j', (args) => {
    expect(redactArguments(args, { type: 'object' })).toEqual(args);
  });
});
