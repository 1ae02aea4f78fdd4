import type { Configuration } from '@sluice/core';
import { createAuthorizer } from '@sluice/authorization';

const authorizers = new WeakMap<Configuration, ReturnType<typeof createAuthorizer>>();

/** Who decides what is permitted under a recorded configuration, made once for each. */
export function authorizerOf(configuration: Configuration): ReturnType<typeof createAuthorizer> {
  let authorizer = authorizers.get(configuration);
  if (authorizer === undefined)
    authorizers.set(configuration, (authorizer = createAuthorizer(configuration.authorization)));
  return authorizer;
}
