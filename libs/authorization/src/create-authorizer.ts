import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import { cedarAuthorizer } from './cedar/authorizer.js';
import { openFgaAuthorizer } from './openfga/authorizer.js';
import { rulesAuthorizer } from './rules.js';

/** Everybody may do everything: bound where nothing is configured, and named at start. */
const allowAll: AuthorizationPort = { check: () => Promise.resolve({ allowed: true }) };

/** The authorizer that the configuration names; `secret` has the key of one that is asked over HTTP. */
export function createAuthorizer(
  settings: AuthorizationSettings | null,
  secret: (variable: string) => string | undefined = () => undefined,
): AuthorizationPort {
  switch (settings?.kind) {
    case undefined:
      return allowAll;
    case 'rules':
      return rulesAuthorizer(settings);
    case 'cedar':
      return cedarAuthorizer(settings);
    case 'openfga':
      return openFgaAuthorizer(settings, secret);
  }
}

/** Whether what is permitted is decided in the process that asks; false where another service is asked. */
export function isDecidedHere(settings: AuthorizationSettings | null): boolean {
  return settings?.kind !== 'openfga';
}
