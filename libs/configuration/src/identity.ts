import { readConsoleClient } from './console-client.js';
import { configurationKeys } from './keys.js';
import { readOperators } from './operators.js';
import { readPermissions } from './permissions.js';
import type { Section } from './section.js';
import { identityProviders } from '@sluice/core';
import type { ClaimNames, IdentitySettings } from '@sluice/core';

/** Which claims say what, unless the file says otherwise. */
const defaultClaims: ClaimNames = {
  actor: 'sub',
  tenant: 'tenant',
  subject: null,
  groups: 'tool_groups',
  connections: null,
};

/** For whom credentials are, unless the file says otherwise. */
const defaultAudience = 'sluice';

/** How far the issuer's clock may be off, unless the file says otherwise. */
const clockToleranceSeconds = { byDefault: 30, most: 300 };

/** `identity`: how the sender of a request is known; without it everybody is one local principal. */
export function readIdentity(section: Section): IdentitySettings {
  section.closed(configurationKeys.identity);
  const provider = section.choice('provider', identityProviders) ?? 'none';
  const claims = readClaims(section.section('claims').closed(configurationKeys['identity.claims']));
  const permissions = readPermissions(section.section('permissions'));
  const operators = readOperators(section);
  const jwksUrl = section.address('jwks_url');
  const keyFile = section.text('key_file', 'the path of a file with the keys, as JWKS or PEM');
  const issuer = section.text('issuer', whoIssues);
  const audience = section.text('audience', 'for whom the credentials are, as their claim `aud` has it');
  const skew = section.wholeNumber('clock_skew_seconds', clockToleranceSeconds);
  const console = readConsoleClient(section, issuer);
  // A provider that was not understood has been reported; what it needs cannot be known.
  const understood = !section.has('provider') || section.value('provider') === provider;
  const operating = operators.length === 0 ? {} : { operators };
  if (provider !== 'jwt') {
    if (understood) refuseSettings(section, provider === 'api-keys' ? ['provider', 'operators'] : ['provider']);
    return provider === 'none' ? { provider } : { provider, ...operating };
  }
  if (!section.has('issuer')) section.problem(section.at('issuer'), 'nothing', whoIssues);
  checkKeys(section, issuer);
  return {
    provider,
    jwksUrl,
    keyFile,
    issuer: issuer ?? '',
    audience: audience ?? defaultAudience,
    claims,
    ...(section.has('clock_skew_seconds') ? { clockToleranceMs: skew * 1_000 } : {}),
    ...(permissions === null ? {} : { permissions }),
    ...operating,
    ...(console === null ? {} : { console }),
  };
}

const whoIssues = 'who issues the credentials, as their claim `iss` has it';

/** Keys come from one place; where none is named, the issuer must be an address at which its discovery document is. */
function checkKeys(section: Section, issuer: string | null): void {
  if (section.has('jwks_url') && section.has('key_file')) {
    const write = 'either `jwks_url` or `key_file`: where the keys are';
    section.problem(section.at('jwks_url'), 'both an address and a file', write);
  }
  if (section.has('jwks_url') || section.has('key_file') || issuer === null) return;
  if (/^https?:\/\/[^/?#@]+([/][^?#]*)?$/i.test(issuer)) return;
  const write =
    'either `jwks_url` or `key_file`, or as `issuer` an address whose OIDC discovery says where the keys are';
  section.problem(section.at('jwks_url'), 'nothing, and an issuer that is no address', write);
}

function refuseSettings(section: Section, allowed: readonly string[]): void {
  for (const key of configurationKeys.identity) {
    if (!allowed.includes(key) && section.has(key))
      section.problem(section.at(key), 'a setting of `jwt`', '`provider: jwt` beside it, or leave it out');
  }
}

function readClaims(section: Section): ClaimNames {
  const name = (key: 'actor' | 'tenant' | 'subject' | 'groups' | 'connections'): string | null =>
    section.text(key, 'the name of a claim');
  const groupsSeparator = section.text('groups_separator', 'what stands between groups in a text, such as `,`');
  const groupsPrefix = section.text(
    'groups_prefix',
    'what groups begin with that is no part of their names, such as `/`',
  );
  return {
    actor: name('actor') ?? defaultClaims.actor,
    tenant: name('tenant') ?? defaultClaims.tenant,
    subject: name('subject'),
    groups: name('groups') ?? defaultClaims.groups,
    connections: name('connections'),
    ...(groupsSeparator === null ? {} : { groupsSeparator }),
    ...(groupsPrefix === null ? {} : { groupsPrefix }),
  };
}
