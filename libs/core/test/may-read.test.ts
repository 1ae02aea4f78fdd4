import { describe, expect, it } from '@jest/globals';
import { mayReadCalls } from '@sluice/core';
import type { AuthorizationPort, Configuration, ConfiguredTool, Principal } from '@sluice/core';

const allowing: AuthorizationPort = { check: () => Promise.resolve({ allowed: true }) };
const denying: AuthorizationPort = { check: () => Promise.resolve({ allowed: false, missing: 'permission' }) };
const broken: AuthorizationPort = { check: () => Promise.reject(new Error('away')) };
const tool = (changes: Partial<ConfiguredTool> = {}) =>
  ({ id: 'core__find', groups: ['crm'], spec: { effect: 'read_only' }, ...changes }) as ConfiguredTool;
const reader = (changes: Partial<Principal> = {}): Principal => {
  return { actorId: 'user:boss', tenantId: 'acme', subjectId: null, groups: ['crm'], connections: [], ...changes };
};
const configuration = {
  groupTree: { crm: ['crm/sales'] },
  connections: [{ id: 'crm', tenants: ['acme'] }],
} as unknown as Pick<Configuration, 'groupTree' | 'connections'>;

describe('who may read what calls of a tool were given and gave, of another’s run', () => {
  it.each([
    ['who may ask for a group of it', tool(), reader(), allowing, true],
    ['who may ask for a group above', tool({ groups: ['crm/sales'] }), reader(), allowing, true],
    ['who may ask for everything', tool({ groups: [] }), reader({ groups: ['*'] }), allowing, true],
    ['not who may ask for none of its groups', tool(), reader({ groups: ['hr'] }), allowing, false],
    ['not who may not use its connection', tool({ connection: 'crm' }), reader(), allowing, false],
    ['who may use its connection', tool({ connection: 'crm' }), reader({ connections: ['crm'] }), allowing, true],
    [
      'not where the connection is not open to the tenant',
      tool({ connection: 'crm' }),
      reader({ connections: ['*'], tenantId: 'globex' }),
      allowing,
      false,
    ],
    ['not whom authorization denies the tool', tool(), reader(), denying, false],
    ['nobody else while authorization is away', tool(), reader(), broken, false],
    ['nobody else where the tool is not known', undefined, reader({ groups: ['*'] }), allowing, false],
  ])('%s', async (_, one, who, authorizer, may) => {
    expect(await mayReadCalls(one, who, configuration, authorizer)).toBe(may);
  });
});
