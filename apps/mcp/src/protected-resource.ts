import type { Request } from 'express';
import type { JwtSettings } from '@sluice/core';
import type { Runtime } from '@sluice/host';

type Where = Pick<Request, 'get' | 'protocol'>;

/** The metadata of this resource server (RFC 9728): where clients get the credential that it takes. */
export function resourceMetadata(request: Where, runtime: Pick<Runtime, 'configurations'>): object | null {
  const { identity } = runtime.configurations.current().configuration;
  if (identity.provider !== 'jwt') return null;
  const scopes = scopesOf(identity, runtime);
  return {
    resource: resourceOf(identity, request),
    authorization_servers: [identity.issuer],
    bearer_methods_supported: ['header'],
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    resource_name: 'Sluice',
  };
}

/** The headers of a refusal for want of a credential: where to get one, and with which scopes. */
export function challenge(request: Where, runtime: Pick<Runtime, 'configurations'>): Record<string, string> {
  const { identity } = runtime.configurations.current().configuration;
  if (identity.provider === 'none') return {};
  if (identity.provider === 'api-keys') return { 'www-authenticate': 'Bearer' };
  const hasOne = request.get('authorization') !== undefined;
  const scopes = scopesOf(identity, runtime);
  const metadata = new URL(resourceOf(identity, request));
  metadata.pathname = `/.well-known/oauth-protected-resource${metadata.pathname === '/' ? '' : metadata.pathname}`;
  const parts = [
    ...(hasOne ? ['error="invalid_token"'] : []),
    `resource_metadata="${metadata.href}"`,
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
  ];
  return { 'www-authenticate': `Bearer ${parts.join(', ')}` };
}

/** The address that the audience of the credentials names, as RFC 8707 wants it; else the one that the client used. */
function resourceOf({ audience }: JwtSettings, request: Where): string {
  if (/^https?:\/\//i.test(audience) && URL.canParse(audience)) return audience;
  return `${request.protocol}://${request.get('host') ?? 'localhost'}/mcp`;
}

/** The claims in which servers write the scopes of a token: RFC 9068, and Entra and Okta. */
const scopeClaims: readonly string[] = ['scope', 'scp'];

/** Where the scopes of a token name the groups, the groups are the scopes, or the roles that stand for them. */
function scopesOf(
  { claims, permissions }: JwtSettings,
  { configurations }: Pick<Runtime, 'configurations'>,
): readonly string[] {
  if (!scopeClaims.includes(claims.groups) || permissions?.source !== undefined) return [];
  const { tools, groupTree = {} } = configurations.current().configuration;
  const groups = [...Object.keys(groupTree), ...tools.flatMap((tool) => tool.groups)];
  const names = permissions?.roles === undefined ? groups : Object.keys(permissions.roles);
  // What could not stand in the header is no scope (RFC 6749).
  return [...new Set(names)].filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)).sort();
}
