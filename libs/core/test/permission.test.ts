import { describe, expect, it } from '@jest/globals';
import {
  localPrincipal,
  mayRequest,
  normaliseGroups,
  readPrincipal,
  refusedGroupsSentence,
  whyNoGroups,
} from '@sluice/core';
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

  it('is everything while no identity is required (XG-12)', () => {
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

  it('are read in the forms that issuers write: paths, commas, one text', () => {
    const groups = (written: JsonObject['x'], more: Partial<ClaimNames>) => {
      const found = readPrincipal({ sub: 'alice', org: 'acme', groups: written ?? null }, { ...claims, ...more });
      return 'principal' in found ? found.principal.groups : found.problem;
    };
    expect(groups(['/knowledge/read', '/', 'basic', '/basic'], { groupsPrefix: '/' })).toEqual([
      'knowledge/read',
      '/',
      'basic',
    ]);
    expect(groups(['/knowledge'], {})).toEqual(['/knowledge']);
    expect(groups('knowledge, basic,', { groupsSeparator: ',' })).toEqual(['knowledge', 'basic']);
    expect(groups('knowledge', { groupsSeparator: ',' })).toEqual(['knowledge']);
    expect(groups('knowledge', {})).toEqual(['knowledge']);
  });

  it('that give none of the groups of the configuration say why', () => {
    const known = new Set(['*', 'undefined', 'knowledge']);
    const jwt = { provider: 'jwt', jwksUrl: null, keyFile: 'k', issuer: 'i', audience: 'a', claims } as const;
    const why = (groups: readonly string[], payload: JsonObject, more: object = {}) =>
      whyNoGroups({ groups }, payload, { ...jwt, ...more }, known);
    expect(why(['knowledge'], {})).toBeNull();
    expect(why(['*'], {})).toBeNull();
    expect(why([], {})).toBe('absent');
    expect(why([], { _claim_names: { groups: 'src1' } })).toBe('overage');
    expect(why([], { hasgroups: true })).toBe('overage');
    expect(why([], { groups: [] })).toBe('empty');
    expect(why([], { groups: null })).toBe('empty');
    expect(why(['/knowledge'], { groups: ['/knowledge'] })).toBe('unknown');
    expect(why([], { groups: ['r'] }, { permissions: { roles: { q: ['knowledge'] } } })).toBe('unmapped');
    expect(why([], {}, { permissions: { source: { kind: 'file', path: 'f' } } })).toBe('not_listed');
    expect(whyNoGroups({ groups: [] }, undefined, jwt, known)).toBeNull();
  });

  it('are named in a refusal beside the nearest that the caller has', () => {
    const tree = { knowledge: ['knowledge/read'] };
    expect(refusedGroupsSentence(['knowlege/read'], ['knowledge', 'basic'], tree)).toMatch(
      /"knowlege\/read"\. You may ask for "knowledge\/read"\.$/,
    );
    expect(refusedGroupsSentence(['admin'], ['basic'])).toMatch(
      /: "admin"\. You may ask for groups such as "basic"\.$/,
    );
    expect(refusedGroupsSentence(['admin'], [])).toMatch(/: "admin"\. Your credential permits no group\.$/);
  });

  it('permit nothing where they are absent (XG-12)', () => expect(read({})).toEqual({ principal: alice }));

  it('cannot make a user a service: an id is a user’s whatever it looks like (T-F2c)', () => {
    expect(read({ sub: 'service:root' })).toMatchObject({ principal: { actorId: 'user:service:root' } });
  });

  it.each<[JsonObject, string]>([
    [{ sub: '' }, '"sub" names no one'],
    [{ sub: 7 }, '"sub" names no one'],
    [{ sub: 'x'.repeat(257) }, '"sub" names no one'],
    [{ org: null }, '"org" names no tenant'],
    [{ for: 7 }, '"for" names no one'],
    [{ groups: { admin: true } }, '"groups" is no list'],
    [{ groups: ['read-only', 7] }, '"groups" is no list'],
    [{ links: true }, '"links" is no list'],
    [{ groups: Array.from({ length: 257 }, (_, n) => `g${n}`) }, '"groups" is no list'],
  ])('are refused where they are not what they must be: %j', (payload, said) => {
    expect(read(payload)).toEqual({ problem: expect.stringContaining(said) });
  });
});
