import type { HookSettings } from '@sluice/core';
import type { Environment } from './environment.js';

/**
 * The secrets of a hook that this process has, the present one first; none where its variable is not set. Throws an
 * Error for a file that cannot be read.
 */
export function hookSecrets(
  { secretEnv, previousSecretEnv }: HookSettings,
  { secret }: Pick<Environment, 'secret'>,
): readonly string[] {
  const variables = previousSecretEnv === undefined ? [secretEnv] : [secretEnv, previousSecretEnv];
  return variables.map((variable) => secret(variable) ?? '').filter((value) => value !== '');
}
