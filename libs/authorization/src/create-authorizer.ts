import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import { cedarAuthorizer } from './cedar/authorizer.js';
import { rulesAuthorizer } from './rules.js';

/** Everybody may do everything: bound where nothing is configured, and named at start. */
const allowAll: AuthorizationPort = { check: () => Promise.resolve({ allowed: true }) };

/** The authorizer that the configuration names. */
export function createAuthorizer(settings: AuthorizationSettings | null): AuthorizationPort {
  switch (settings?.kind) {
    case undefined:
      return allowAll;
    case 'rules':
      return rulesAuthorizer(settings);
    case 'cedar':
      return cedarAuthorizer(settings);
  }
}
