import { describe, expect, it } from '@jest/globals';
import type { JwtSettings, PermissionSettings } from '@sluice/core';
import { challenge, resourceMetadata } from '../src/protected-resource.js';

describe('the scopes that a refusal for want of a credential names', () => {
  const request = { get: () => undefined, protocol: 'http' };
  const challenged = (groups: string, permissions?: PermissionSettings) => {
    const claims = { actor: 'sub', tenant: 'tenant', subject: null, groups, connections: null };
    const jwt: JwtSettings = {
      provider: 'jwt',
      jwksUrl: null,
      keyFile: 'k',
      issuer: 'https://i',
      audience: 'https://a',
      claims,
    };
    const identity = permissions === undefined ? jwt : { ...jwt, permissions };
    const tools = [{ groups: ['basic', 'knowledge/read'] }, { groups: ['basic', 'no scope'] }];
    const configuration = { identity, tools, groupTree: { knowledge: ['knowledge/read'] } };
    const runtime = { configurations: { current: () => ({ configuration }) } } as unknown as Parameters<
      typeof challenge
    >[1];
    const scopes = (resourceMetadata(request, runtime) as { readonly scopes_supported?: readonly string[] })
      .scopes_supported;
    return [/scope="([^"]*)"/.exec(challenge(request, runtime)['www-authenticate'] ?? '')?.[1], scopes?.join(' ')];
  };

  it('are the groups, or the roles that stand for them', () => {
    const groups = 'basic knowledge knowledge/read';
    expect(challenged('scope')).toEqual([groups, groups]);
    expect(challenged('scp')).toEqual([groups, groups]);
    expect(challenged('scp', { roles: { reader: ['basic'] } })).toEqual(['reader', 'reader']);
  });

  it('are none where no scope of a token says what the caller may ask for', () => {
    expect(challenged('groups')).toEqual([undefined, undefined]);
    expect(challenged('scope', { source: { kind: 'file', path: 'users.yaml' } })).toEqual([undefined, undefined]);
  });
});
