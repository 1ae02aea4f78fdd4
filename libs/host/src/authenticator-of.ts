import type { Authenticator } from '@sluice/core';
import { createAuthenticator } from '@sluice/identity';
import type { RunParts } from '@sluice/run';
import type { Runtime } from './runtime.js';

/** Who verifies credentials in this process: JWTs, and the API keys in the ledger’s database. */
export function authenticatorOf({
  environment,
  documents,
}: Pick<Runtime, 'environment'> & Pick<RunParts, 'documents'>): Authenticator {
  const { databaseUrl } = environment;
  return createAuthenticator({ documents, databaseUrl, secret: (variable) => environment.secret(variable) });
}
