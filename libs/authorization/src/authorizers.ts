import type { AuthorizationPort, Configuration } from '@sluice/core';
import { createAuthorizer } from './create-authorizer.js';

/**
 * Who decides what is permitted under a configuration, made once for each; `secret` has the key of one that is asked
 * over HTTP.
 */
export function authorizers(
  secret?: (variable: string) => string | undefined,
): (configuration: Configuration) => AuthorizationPort {
  const made = new WeakMap<Configuration, AuthorizationPort>();
  return (configuration) => {
    const authorizer = made.get(configuration) ?? createAuthorizer(configuration.authorization, secret);
    made.set(configuration, authorizer);
    return authorizer;
  };
}
