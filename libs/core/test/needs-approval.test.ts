import { describe, expect, it } from '@jest/globals';
import { approvalAsks } from '@sluice/core';
import type { ApprovalRule, JsonValue, RuleFacts } from '@sluice/core';

const facts: RuleFacts = {
  ...{ at: 0, tenant: 'acme', actor: 'user:ann', agent: 'default', channel: 'http', claims: {}, facts: {} },
  ...{ question: '', loads: {}, held: [], succeeded: {}, approved: {}, spent: { tokens: 0, microUsd: null } },
};
const inputSchema = {
  type: 'object',
  properties: { amount: { type: 'number' }, to: { type: 'array' }, note: { type: 'string', default: null } },
};
const pay = {
  id: 'pay',
  spec: {
    ...{ name: 'pay', description: '', inputSchema, redaction: { whole: true as const }, schemaHash: '' },
    effect: 'external_side_effect' as const,
  },
};

/** What asks for the approval of a call, by kind, under one rule. */
function asking(rule: Partial<ApprovalRule>, args: JsonValue, known: Partial<RuleFacts> = {}): readonly string[] {
  const approvalRules = [
    { ...{ name: 'small', tools: ['pay'], effects: [], quorum: 1, onExpiry: 'refuse' as const }, ...rule },
  ];
  const policy = { approvalRules, approvalEffects: [pay.spec.effect], approvers: ['user:bob'], approvalMs: 1 };
  return approvalAsks(pay, policy, { args, facts: { ...facts, ...known }, state: 's' }).map((ask) => ask.rule);
}

describe('a rule that asks unless arguments are within bounds', () => {
  it.each<[string, Partial<ApprovalRule>['unless'], JsonValue, boolean]>([
    ['is within them', { amount: { maximum: 100 } }, { amount: 100 }, false],
    ['is beyond them', { amount: { maximum: 100 } }, { amount: 101 }, true],
    ['is not given', { amount: { maximum: 100 } }, {}, true],
    ['has another name', { amuont: { maximum: 100 } }, { amount: 101 }, true],
    ['need not be given', { amount: { maximum: 100, required: false } }, {}, false],
    ['may not be given, and is not', { note: { absent: true } }, {}, false],
    ['is missing in one of its elements', { 'to/*/mail': { pattern: '@x$' } }, { to: [{ mail: 'a@x' }, {}] }, true],
    ['is within them in all elements', { 'to/*/mail': { pattern: '@x$' } }, { to: [{ mail: 'a@x' }] }, false],
  ])('asks of an argument that %s: %#', (_name, unless, args, asks) => {
    expect(asking({ unless: unless as NonNullable<typeof unless> }, args)).toEqual(asks ? ['rule'] : []);
  });

  it('takes the place of the effect only where it is known to be about the caller', () => {
    const rule = { unless: { amount: { maximum: 100 } }, whom: { claims: { role: ['clerk'] } } };
    const by = (claims: RuleFacts['claims'], amount = 1) => asking(rule, { amount }, { claims });
    expect([by({ role: ['clerk'] }), by({ role: ['guest'] }), by({})]).toEqual([[], ['effect'], ['effect']]);
    expect(by({}, 101)).toEqual(['rule', 'effect']);
    const web = { unless: rule.unless, whom: { channels: ['http'] as const } };
    expect(asking(web, { amount: 1 }, { channel: '' })).toEqual(['effect']);
  });
});
