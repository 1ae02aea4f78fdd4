import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { localPrincipal, runName, sessionName } from '@sluice/core';

/** Ids as callers write them, among them some that look like names. */
const id = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.constantFrom(
    '@',
    '@[',
    '@["acme","r"]',
    '@@["acme","r"]',
    '@[null,"r"]',
    '["acme","r"]',
    'acme/r',
    '"',
    '\\',
    '\0',
  ),
  fc.tuple(fc.string(), fc.string()).map((parts) => `@${JSON.stringify(parts)}`),
);
const tenant = fc.oneof(fc.constantFrom(localPrincipal.tenantId, null, 'acme'), id);
const principal = fc.record({
  tenantId: fc.oneof(fc.constantFrom('local', 'acme'), id),
  actorId: id,
  subjectId: fc.option(id),
});

describe('the name of a run', () => {
  it('is that of one run of one tenant, whatever characters ids have', () => {
    fc.assert(
      fc.property(id, tenant, id, tenant, (one, ofOne, other, ofOther) => {
        const same = one === other && ofOne === ofOther;
        expect(runName(one, ofOne) === runName(other, ofOther)).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is its request_id where there is no identity, as former versions have it', () => {
    expect(runName('r-1', localPrincipal.tenantId)).toBe('r-1');
    expect(runName('r-1', 'acme')).toBe('@["acme","r-1"]');
    expect(runName('r-1', null)).toBe('@[null,"r-1"]');
    expect(runName('@["acme","r-1"]', localPrincipal.tenantId)).toBe('@@["acme","r-1"]');
  });
});

describe('the name of a session', () => {
  it('is that of one session of one user of one tenant', () => {
    fc.assert(
      fc.property(id, principal, id, principal, (one, ofOne, other, ofOther) => {
        const user = (whose: typeof ofOne): string => whose.subjectId ?? whose.actorId;
        const same = one === other && ofOne.tenantId === ofOther.tenantId && user(ofOne) === user(ofOther);
        expect(sessionName(one, ofOne) === sessionName(other, ofOther)).toBe(same);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is that of the user on whose behalf an agent asks', () => {
    const ann = { tenantId: 'acme', actorId: 'user:ann', subjectId: null };
    const forAnn = { tenantId: 'acme', actorId: 'client:desk', subjectId: 'user:ann' };
    expect(sessionName('s', forAnn)).toBe(sessionName('s', ann));
    expect(sessionName('s', localPrincipal)).toBe('s');
  });
});
