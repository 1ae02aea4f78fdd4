import { describe, expect, it } from '@jest/globals';
import type { ConfiguredTool, Principal } from '@sluice/core';
import { callRequest, callerRequest, requestIdOf, sessionKey } from '@sluice/mcp';

const ann: Principal = {
  ...{ tenantId: 'acme', actorId: 'user:ann', subjectId: 'user:sam' },
  ...{ groups: ['reading'], connections: ['crm'] },
};
const others: readonly (readonly [string, Principal])[] = [
  ['tenant', { ...ann, tenantId: 'globex' }],
  ['actor', { ...ann, actorId: 'user:dan' }],
  ['subject', { ...ann, subjectId: 'user:eve' }],
  ['subject, which is nobody', { ...ann, subjectId: null }],
];
const key = { kind: 'key', text: 'k-1' } as const;
const ids = { requestId: 'r', sessionId: 's' };

describe('the request_id of a call that may be repeated', () => {
  it('is the same for the same key of the same caller in the same session', () => {
    expect(requestIdOf('s', { ...ann, groups: ['*'], connections: [] }, { ...key })).toBe(requestIdOf('s', ann, key));
  });

  it.each(others)('is another for another %s, with a session and without', (_, other) => {
    for (const session of ['s', '']) expect(requestIdOf(session, other, key)).not.toBe(requestIdOf(session, ann, key));
  });

  it('is another in another session, for another key, and for a message of the same name', () => {
    const rest = [
      requestIdOf('other', ann, key),
      requestIdOf('s', ann, { kind: 'key', text: 'k-2' }),
      requestIdOf('s', ann, { kind: 'message', text: 'k-1' }),
    ];
    expect(new Set([requestIdOf('s', ann, key), ...rest]).size).toBe(4);
  });
});

describe('the key of a session', () => {
  it.each([...others, ['session', ann] as const])('is another for another %s', (what, other) => {
    expect(sessionKey(what === 'session' ? 'other' : 's', other)).not.toBe(sessionKey('s', ann));
  });
});

describe('the request of a call', () => {
  it('asks for the groups and connections of its caller, and for no others', () => {
    const given = { ...ann, groups: ['reading', 'writing'], connections: ['crm', 'mail'] };
    expect(callerRequest(given, null, 'Q', ids)).toMatchObject({
      ...{ group: ['reading', 'writing'], connections: ['crm', 'mail'] },
    });
    expect(callerRequest({ groups: [], connections: [] }, null, 'Q', ids)).toMatchObject({
      group: [],
      connections: [],
    });
    const all = { groups: ['reading', '*'], connections: ['*', 'crm'] };
    expect(callerRequest(all, null, 'Q', ids)).toMatchObject({ group: ['*'], connections: ['*'] });
  });

  it('waits for no other where it cannot move the state', () => {
    const tool = { id: 'core__a', key: 'a', mcp: null, target: null } as unknown as ConfiguredTool;
    expect(callRequest(ann, null, tool, { n: 1 }, ids).call).toEqual({
      ...{ tool: 'core__a', arguments: '{"n":1}', order: 'none' },
    });
    expect(callRequest(ann, null, { ...tool, target: 'next' }, {}, ids).call?.order).toBeNull();
  });
});
