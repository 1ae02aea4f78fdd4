import { createAuthorizer } from '@sluice/authorization';
import type { Configuration } from '@sluice/core';
import type { Environment } from '@sluice/host';
import { permissionSource } from '@sluice/identity';

/** A caller that no source knows: the question changes nothing. */
const unknownCaller = { tenantId: 'sluice-check', actorId: 'user:sluice-check', subjectId: null };

/** What a configuration relies on outside of it, and what is wrong with it; null where it answers. */
interface OutsideSource {
  readonly where: string;
  readonly problem: string | null;
}

/** Asks the source of permissions and the authorizer once, as a service would for a caller. */
export async function outsideSources(
  { identity, authorization }: Configuration,
  { databaseUrl, secret }: Pick<Environment, 'databaseUrl' | 'secret'>,
): Promise<readonly OutsideSource[]> {
  const found: OutsideSource[] = [];
  const source = identity.provider === 'jwt' ? identity.permissions?.source : undefined;
  if (source !== undefined) {
    const asked = permissionSource(source, { secret, databaseUrl }).find(unknownCaller);
    found.push({ where: 'identity.permissions', problem: await problemOf(asked) });
  }
  if (authorization?.kind === 'openfga') {
    const context = { tenantId: unknownCaller.tenantId, runId: 'sluice-check', effect: 'read_only' } as const;
    const tool = { type: 'tool', id: 'core__sluice-check' } as const;
    const asked = createAuthorizer(authorization, secret).check(
      unknownCaller.actorId,
      undefined,
      'tool.execute',
      tool,
      context,
    );
    found.push({ where: 'authorization.openfga', problem: await problemOf(asked) });
  }
  return found;
}

async function problemOf(asked: Promise<unknown>): Promise<string | null> {
  try {
    await asked;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
