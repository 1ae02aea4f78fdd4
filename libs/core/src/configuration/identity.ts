import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import { type ClaimNames, type IdentitySettings, identityProviders } from './types.js';

/** Which claims say what, unless the file says otherwise. */
export const defaultClaims: ClaimNames = {
  actor: 'sub',
  tenant: 'tenant',
  subject: null,
  groups: 'tool_groups',
  connections: null,
};

/** `identity`: how the sender of a request is known; without it everybody is one local principal. */
export function readIdentity(section: Section): IdentitySettings {
  section.closed(configurationKeys.identity);
  const provider = section.choice('provider', identityProviders) ?? 'none';
  const claims = readClaims(section.section('claims').closed(configurationKeys['identity.claims']));
  const jwksUrl = section.address('jwks_url');
  const keyFile = section.text('key_file', 'the path of a file with the keys, as JWKS or PEM');
  const issuer = section.text('issuer', 'who issues the credentials, as their claim `iss` has it');
  const audience = section.text('audience', 'for whom the credentials are, as their claim `aud` has it');
  // A provider that was not understood has been reported; what it needs cannot be known.
  const understood = !section.has('provider') || section.value('provider') === provider;
  if (provider === 'none') {
    if (understood) refuseSettings(section);
    return { provider };
  }
  for (const [key, write] of required) if (!section.has(key)) section.problem(section.at(key), 'nothing', write);
  if (section.has('jwks_url') === section.has('key_file')) {
    const found = section.has('jwks_url') ? 'both an address and a file' : 'nothing';
    section.problem(section.at('jwks_url'), found, 'either `jwks_url` or `key_file`: where the keys are');
  }
  return { provider, jwksUrl, keyFile, issuer: issuer ?? '', audience: audience ?? '', claims };
}

const required = [
  ['issuer', 'who issues the credentials, as their claim `iss` has it'],
  ['audience', 'for whom the credentials are, as their claim `aud` has it'],
] as const;

function refuseSettings(section: Section): void {
  for (const key of ['jwks_url', 'key_file', 'issuer', 'audience', 'claims'] as const) {
    if (section.has(key))
      section.problem(section.at(key), 'a setting of `jwt`', '`provider: jwt` beside it, or leave it out');
  }
}

function readClaims(section: Section): ClaimNames {
  const name = (key: keyof ClaimNames): string | null => section.text(key, 'the name of a claim');
  return {
    actor: name('actor') ?? defaultClaims.actor,
    tenant: name('tenant') ?? defaultClaims.tenant,
    subject: name('subject'),
    groups: name('groups') ?? defaultClaims.groups,
    connections: name('connections'),
  };
}
