import { describe, expect, it } from '@jest/globals';
import { linkToken, requireLink, requireSecret } from '../src/local-access.js';

type Parts = Parameters<typeof requireSecret>[1];
const parts = (provider = 'none', isKnown = true): Parts =>
  ({
    configurations: { current: () => ({ configuration: { identity: { provider } } }) },
    clock: { now: () => 0 },
    localSecret: {
      isKnown,
      isIn: (header: string | undefined) => header === 'Bearer right',
      isTokenFor: (_: unknown, token: string) => token === 'link',
    },
  }) as unknown as Parts;
const http = (authorization?: string) =>
  ({ get: () => authorization }) as unknown as Parameters<typeof requireSecret>[0];
/** What is refused, or null. */
const refusal = (ask: () => void): string | null => {
  try {
    ask();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('without an identity', () => {
  it('the local secret is asked for, and what is wrong with it is said', () => {
    expect(refusal(() => requireSecret(http('Bearer right'), parts()))).toBeNull();
    expect(refusal(() => requireSecret(http(), parts()))).toMatch(
      /^Without an identity .* needs the local secret\. Send/,
    );
    expect(refusal(() => requireSecret(http('Bearer other'), parts()))).toMatch(/^The bearer token is not the local/);
    expect(refusal(() => requireSecret(http(), parts('none', false)))).toContain('this gateway has none');
    expect(refusal(() => requireSecret(http(), parts('oidc')))).toBeNull();
  });

  it('the token of a run’s link is enough for that run', () => {
    const run = { requestId: 'r', tenant: 'acme' } as unknown as Parameters<typeof requireLink>[1];
    const link = (token: unknown, authorization?: string, of = parts()) =>
      refusal(() => requireLink(http(authorization), run, token, of));
    expect([link('link'), link('other', 'Bearer right'), link('other', undefined, parts('oidc'))]).toEqual([
      ...[null, null, null],
    ]);
    expect(link('other')).toContain('The token of this link does not hold');
    expect(link(undefined)).toContain('needs the local secret');
    expect(linkToken(run, parts('oidc'))).toBeNull();
  });
});
