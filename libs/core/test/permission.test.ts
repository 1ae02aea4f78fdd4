import { describe, expect, it } from '@jest/globals';
import { localPrincipal, mayRequest, normaliseGroups, readPrincipal } from '@sluice/core';
import type { ClaimNames, GroupTree, IdentitySettings, JsonObject } from '@sluice/core';
import { readCases } from '../../configuration/test/read-cases.js';

interface Case {
  readonly name: string;
  readonly requirements: string;
  readonly permitted: readonly string[];
  readonly group?: readonly string[];
  readonly user?: string;
  readonly tree?: GroupTree;
  /** Absent: the request may be made. */
  readonly refused?: readonly string[];
  readonly escalation?: boolean;
  readonly message?: string;
}

const claims: ClaimNames = { actor: 'sub', tenant: 'org', subject: 'for', groups: 'groups', connections: 'links' };
const jwt: IdentitySettings = { provider: 'jwt', jwksUrl: null, keyFile: 'k', issuer: 'i', audience: 'a', claims };

describe('what a caller may ask for', () => {
  const cases = readCases<readonly Case[]>('permission.yaml');
  it.each(cases.map((one) => [`${one.name} (${one.requirements})`, one] as const))('%s', (_name, one) => {
    const principal = { ...localPrincipal, actorId: 'user:alice', groups: one.permitted };
    const verdict = mayRequest({ userId: one.user ?? null }, normaliseGroups(one.group), principal, {
      identity: jwt,
      groupTree: one.tree ?? {},
    });
    if (one.refused === undefined) expect(verdict).toEqual({ ok: true });
    else
      expect(verdict).toEqual({
        ok: false,
        refusedGroups: one.refused,
        escalation: one.escalation ?? false,
        message: expect.stringContaining(one.message ?? ''),
      });
  });

  it('is everything while nobody is asked who they are (XG-12)', () => {
    expect(
      mayRequest({ userId: 'anybody' }, ['*', 'write'], localPrincipal, { identity: { provider: 'none' } }),
    ).toEqual({
      ok: true,
    });
  });
});

describe('the claims of a credential', () => {
  const read = (payload: JsonObject) => readPrincipal({ sub: 'alice', org: 'acme', ...payload }, claims);
  const alice = { actorId: 'user:alice', tenantId: 'acme', subjectId: null, groups: [], connections: [] };

  it('name actor, tenant, subject, groups and connections (XG-5, XB-24, T-F2a)', () => {
    const payload = { for: 'bob', groups: ['read-only', 'write', 'write'], links: 'crm  mail' };
    expect(read(payload)).toEqual({
      principal: { ...alice, subjectId: 'user:bob', groups: ['read-only', 'write'], connections: ['crm', 'mail'] },
    });
  });

  it('permit nothing where they are absent (XG-12)', () => expect(read({})).toEqual({ principal: alice }));

  it('cannot make a user a service: an id is a user’s whatever it looks like (T-F2c)', () => {
    expect(read({ sub: 'service:root' })).toMatchObject({ principal: { actorId: 'user:service:root' } });
  });

  it.each<[JsonObject, string]>([
    [{ sub: '' }, '"sub" names nobody'],
    [{ sub: 7 }, '"sub" names nobody'],
    [{ sub: 'x'.repeat(257) }, '"sub" names nobody'],
    [{ org: null }, '"org" names no tenant'],
    [{ for: 7 }, '"for" names nobody'],
    [{ groups: { admin: true } }, '"groups" is no list'],
    [{ groups: ['read-only', 7] }, '"groups" is no list'],
    [{ links: true }, '"links" is no list'],
    [{ groups: Array.from({ length: 257 }, (_, n) => `g${n}`) }, '"groups" is no list'],
  ])('are refused where they are not what they must be: %j', (payload, said) => {
    expect(read(payload)).toEqual({ problem: expect.stringContaining(said) });
  });
});
