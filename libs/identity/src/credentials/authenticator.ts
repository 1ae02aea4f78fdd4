import { localPrincipal } from '@sluice/core';
import type { Authentication, Authenticator, Documents, JwtSettings } from '@sluice/core';
import { isApiKey } from '../api-keys/format.js';
import { ApiKeys } from '../api-keys/api-keys.js';
import { permissionSource } from '../permissions/source.js';
import type { SourceParts } from '../permissions/source.js';
import { jwtVerifier } from './jwt.js';
import type { JwtVerifier } from './jwt.js';
import { refused } from './refused.js';

interface AuthenticatorParts extends SourceParts {
  /** Where API keys are; absent where none is accepted. */
  readonly documents?: Documents;
}

/** Verifies credentials as the configuration in force says; without a provider everybody is the local principal. */
export function createAuthenticator(given: AuthenticatorParts = {}): Authenticator {
  const apiKeys = given.documents === undefined ? null : new ApiKeys(given.documents);
  let current: { readonly settings: string; readonly verifier: JwtVerifier } | undefined;

  /** One at a time: other settings bring their own keys, and their own cache of permissions. */
  function verifierOf(settings: JwtSettings): JwtVerifier {
    const { jwksUrl, keyFile, issuer, permissions } = settings;
    const wanted = JSON.stringify([jwksUrl, keyFile, issuer, permissions?.source]);
    if (current?.settings !== wanted) {
      const source = permissions?.source === undefined ? null : permissionSource(permissions.source, given);
      current = { settings: wanted, verifier: jwtVerifier(settings, source) };
    }
    return current.verifier;
  }

  return {
    authenticate: async (settings, authorization, at): Promise<Authentication> => {
      if (settings.provider === 'none') return { ok: true, principal: localPrincipal };
      const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) return { ok: false, message: noCredential };
      if (isApiKey(token))
        return apiKeys === null ? refused('API keys are not accepted here') : apiKeys.verify(token, at);
      switch (settings.provider) {
        case 'jwt':
          return verifierOf(settings)(settings, token, at);
        case 'api-keys':
          return refused('it is not an API key');
      }
    },
  };
}

const noCredential =
  'The request carries no credential. Send one as `Bearer …` in the record’s header `authorization`.';
