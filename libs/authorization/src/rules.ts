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

/** The built-in rules: what some permission names is permitted, what some delegation names is delegated, all else is denied. */
export function rulesAuthorizer({ permissions, delegations }: Rules): AuthorizationPort {
  return {
    check: (actor, subject, _action, resource, context) => {
      const permitted = permissions.some(
        (one) => holds(one.principals, subject ?? actor) && covers(one, resource, context),
      );
      if (!permitted) return Promise.resolve({ allowed: false, missing: 'permission' });
      const delegated =
        subject === undefined ||
        delegations.some(
          (one) => holds(one.actors, actor) && holds(one.subjects, subject) && covers(one, resource, context),
        );
      return Promise.resolve(delegated ? { allowed: true } : { allowed: false, missing: 'delegation' });
    },
  };
}

function covers(scope: Scope, { type, id }: AuthorizationResource, { tenantId }: AuthorizationContext): boolean {
  return holds(scope.tenants, tenantId) && holds(type === 'tool' ? scope.tools : scope.connections, id);
}

/** `*` is a wildcard in the configuration only: a principal of that name gets no other's rights. */
function holds(names: readonly string[], name: string): boolean {
  return names.includes(wildcard) || names.includes(name);
}
