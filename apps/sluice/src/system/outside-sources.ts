import { createAuthorizer } from '@sluice/authorization';
import { isElsewhere } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { Environment } from '@sluice/host';
import { permissionSource } from '@sluice/identity';
import { networkRequests } from '@sluice/isolation';
import { tryList } from '@sluice/sources';

/** A caller that no source knows: the question changes nothing. */
const unknownCaller = { tenantId: 'sluice-check', actorId: 'user:sluice-check', subjectId: null };

/** What a configuration relies on outside of it, and what is wrong with it; null where it answers. */
interface OutsideSource {
  readonly where: string;
  readonly problem: string | null;
}

/** Asks the source of permissions, the authorizer and lists that are kept elsewhere once, as a service would. */
export async function outsideSources(
  { identity, authorization, lists = {}, web }: Configuration,
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
  const requests = networkRequests(web?.privateHosts ?? []);
  for (const [name, list] of Object.entries(lists))
    if ('lookup' in list)
      found.push({
        where: `lists.${name}.lookup`,
        problem: await problemOf(tryList(list.lookup, { requests, secret })),
      });
  await requests.close();
  return found;
}

/** Whether there is anything to ask. */
export function hasOutsideSources({ identity, authorization, lists = {} }: Configuration): boolean {
  const hasPermissions = identity.provider === 'jwt' && identity.permissions?.source !== undefined;
  const hasLists = Object.keys(lists).some((name) => isElsewhere(name, lists));
  return hasPermissions || authorization?.kind === 'openfga' || hasLists;
}

async function problemOf(asked: Promise<unknown>): Promise<string | null> {
  try {
    await asked;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
