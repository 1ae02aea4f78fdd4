import { wildcard } from '@sluice/core';
import type {
  AuthorizationContext,
  AuthorizationPort,
  AuthorizationResource,
  AuthorizationSettings,
  Permission,
} from '@sluice/core';

type Rules = Extract<AuthorizationSettings, { readonly kind: 'rules' }>;
type Scope = Omit<Permission, 'principals'>;

/**
 * What a list of names holds; `*` is a wildcard in the configuration only: a principal of that name gets no other's
 * rights.
 */
type Names = (name: string) => boolean;

/** Something that is permitted or delegated within a scope. */
interface Grant<T> {
  readonly what: T;
  readonly tenants: Names;
}

/**
 * The built-in rules: what some permission names is permitted, what some delegation names is delegated, all else is
 * denied.
 */
export function rulesAuthorizer({ permissions, delegations }: Rules): AuthorizationPort {
  const permitted = byResource(permissions, ({ principals }) => namesIn(principals));
  const delegated = byResource(delegations, ({ actors, subjects }) => ({
    actors: namesIn(actors),
    subjects: namesIn(subjects),
  }));
  return {
    check: (actor, subject, _action, resource, context) => {
      const user = subject ?? actor;
      if (!permitted(resource, context).some((holds) => holds(user)))
        return Promise.resolve({ allowed: false, missing: 'permission' });
      const isDelegated =
        subject === undefined ||
        delegated(resource, context).some(({ actors, subjects }) => actors(actor) && subjects(subject));
      return Promise.resolve(isDelegated ? { allowed: true } : { allowed: false, missing: 'delegation' });
    },
  };
}

/** Finds what is granted for a resource by its name, so that a call does not go through the permissions for others. */
function byResource<S extends Scope, T>(
  scopes: readonly S[],
  made: (scope: S) => T,
): (resource: AuthorizationResource, context: AuthorizationContext) => readonly T[] {
  const ofType = (type: AuthorizationResource['type']): ReadonlyMap<string, readonly Grant<T>[]> => {
    const found = new Map<string, Grant<T>[]>();
    for (const scope of scopes) {
      const grant = { what: made(scope), tenants: namesIn(scope.tenants) };
      for (const name of new Set(type === 'tool' ? scope.tools : scope.connections)) {
        const before = found.get(name);
        if (before === undefined) found.set(name, [grant]);
        else before.push(grant);
      }
    }
    return found;
  };
  const grants = { tool: ofType('tool'), connection: ofType('connection') };
  return ({ type, id }, { tenantId }) => {
    const named = id === wildcard ? [] : (grants[type].get(id) ?? []);
    return [...named, ...(grants[type].get(wildcard) ?? [])]
      .filter(({ tenants }) => tenants(tenantId))
      .map(({ what }) => what);
  };
}

function namesIn(list: readonly string[]): Names {
  if (list.includes(wildcard)) return () => true;
  const names = new Set(list);
  return (name) => names.has(name);
}
