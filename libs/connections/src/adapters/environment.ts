import type { ConnectionAnswer, ConnectionSettings } from '@sluice/core';

type Settings = Extract<ConnectionSettings, { readonly adapter: 'environment' }>;

/**
 * A variable, or the file that the variable with `_FILE` behind its name names. Looked at each time, so that another
 * file counts at once.
 */
export function fromEnvironment(
  { variable }: Settings,
  secret: (variable: string) => string | undefined,
): ConnectionAnswer {
  try {
    const token = secret(variable);
    if (token !== undefined) return { ok: true, credential: { token, expiresAt: null } };
    return { ok: false, why: 'unreachable', message: `Neither ${variable} nor ${variable}_FILE is set.` };
  } catch (error) {
    return { ok: false, why: 'unreachable', message: (error as Error).message };
  }
}
