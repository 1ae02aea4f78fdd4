import type { AuthorizationAction, AuthorizationContext, AuthorizationResource } from '@sluice/core';
import type { AuthorizationCall, CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';

/** What Cedar is asked, without the policies. */
export type Question = Pick<AuthorizationCall, 'principal' | 'action' | 'resource' | 'context' | 'entities'>;

/** The type of each kind of principal in Cedar. */
export const principalTypes = { user: 'User', agent: 'Agent', service: 'Service' } as const;
const resourceTypes = { tool: 'Tool', connection: 'Connection' } as const;

/** Beside the port's own actions: acting on another's behalf, whose entity is the resource. */
export const delegationAction = 'act.for';

/** `user:ann` as `User::"ann"`; null for what has no such form, for whom no policy can be written. */
export function principalOf(name: string): TypeAndId | null {
  const [kind = '', ...rest] = name.split(':');
  if (!Object.hasOwn(principalTypes, kind) || rest.length === 0) return null;
  return { type: principalTypes[kind as keyof typeof principalTypes], id: rest.join(':') };
}

/** What of a call the context of an action declares. */
type FromCall = Readonly<Record<string, CedarValueJson>>;

/** Whether the principal may do it. */
export function permissionQuestion(
  principal: EntityJson,
  action: AuthorizationAction,
  { type, id }: AuthorizationResource,
  { tenantId, effect }: AuthorizationContext,
  call: FromCall = {},
): Question {
  const resource = { type: resourceTypes[type], id };
  return {
    principal: principal.uid,
    action: { type: 'Action', id: action },
    resource,
    context: { ...call, tenant: tenantId, effect },
    entities: [principal, { uid: resource, attrs: {}, parents: [] }],
  };
}

/** Whether the actor may do it on behalf of the subject. */
export function delegationQuestion(
  actor: EntityJson,
  subject: EntityJson,
  action: AuthorizationAction,
  { id }: AuthorizationResource,
  { tenantId, effect }: AuthorizationContext,
  call: FromCall = {},
): Question {
  const same = JSON.stringify(actor.uid) === JSON.stringify(subject.uid);
  return {
    principal: actor.uid,
    action: { type: 'Action', id: delegationAction },
    resource: subject.uid,
    context: { ...call, tenant: tenantId, effect, action, id },
    entities: same ? [actor] : [actor, subject],
  };
}
