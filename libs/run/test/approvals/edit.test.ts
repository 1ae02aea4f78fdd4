import { describe, expect, it } from '@jest/globals';
import { observedText } from '@sluice/core';
import type { ConfiguredTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { editedCall, isEditSound } from '../../src/approvals/edit.js';

const secret = { type: 'string', writeOnly: true } as const;
const inputSchema = {
  type: 'object',
  properties: {
    to: { type: 'string' },
    pin: { type: 'string', format: 'password' },
    accounts: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, key: secret } } },
  },
} as const;
const tool = { spec: { inputSchema } } as unknown as ConfiguredTool;
const own = {
  to: 'ann',
  pin: '1234',
  accounts: [
    { name: 'a', key: 'k1' },
    { name: 'b', key: 'k2' },
  ],
};
const edited = (args: object) => editedCall({ arguments: JSON.stringify(args), by: 'user:bob' }, own, tool);

describe('arguments that an approver gives a call', () => {
  it('keep the secrets that it did not see, whether they are left out or stand as [redacted]', () => {
    expect(edited({ to: 'bob', accounts: [{ name: 'c', key: '[redacted]' }] }).args).toEqual({
      ...{ to: 'bob', pin: '1234', accounts: [{ name: 'c', key: 'k1' }] },
    });
    expect(edited({ to: 'bob', pin: '[redacted]' }).args).toEqual({ to: 'bob', pin: '1234' });
  });

  it('have the secrets that it wrote, which no step shows', () => {
    const call = edited({ to: 'bob', pin: '99', accounts: [{ name: 'a', key: 'new' }] });
    expect(call.args).toEqual({ to: 'bob', pin: '99', accounts: [{ name: 'a', key: 'new' }] });
    expect(JSON.parse(call.shown.arguments)).toEqual({
      ...{ to: 'bob', pin: '[redacted]', accounts: [{ name: 'a', key: '[redacted]' }] },
    });
    expect(call.shown.editedBy).toBe('user:bob');
  });

  it('stand in front of what the model reads, without who wrote them', () => {
    const text = observedText({ observation: '{"sent":true}', edited: edited({ to: 'bob' }).shown });
    expect(text).toBe(
      'An approver changed the arguments of this call, which was made with: {"to":"bob"}\n\n{"sent":true}',
    );
    expect(observedText({ observation: 'Done.', edited: null })).toBe('Done.');
  });

  it('are cut in the step, and whole for the tool', () => {
    const call = edited({ to: 'x'.repeat(50_000) });
    expect(call.shown.arguments.length).toBeLessThanOrEqual(2_001);
    expect(call.bytes).toBeGreaterThan(50_000);
  });

  const written = (editedArguments: string | null, changes: object = {}) => {
    const editedHash = editedArguments === null ? null : sha256(editedArguments);
    return { decision: 'approve', editedArguments, editedHash, ...changes };
  };
  const plans = { tools: [{ id: 'plan', plan: {} } as unknown as ConfiguredTool] };

  it.each([
    ['none', written(null), true],
    ['an object', written('{"to":"bob"}'), true],
    ['a hash alone', written(null, { editedHash: sha256('{}') }), false],
    ['another hash', written('{"to":"bob"}', { editedHash: sha256('{}') }), false],
    ['no hash', written('{"to":"bob"}', { editedHash: null }), false],
    ['a list', written('[1]'), false],
    ['no JSON', written('{'), false],
    ['too deep a nesting', written(`{"a":${'['.repeat(70)}${']'.repeat(70)}}`), false],
    ['a refusal', written('{}', { decision: 'refuse' }), false],
  ])('are taken or not: %s', (_, decision, sound) => {
    expect(isEditSound(decision, 'send', plans)).toBe(sound);
  });

  it('are not taken on a plan, whose run goes by what the model wrote', () => {
    expect(isEditSound(written('{}'), 'plan', plans)).toBe(false);
    expect(isEditSound(written(null), 'plan', plans)).toBe(true);
  });
});
