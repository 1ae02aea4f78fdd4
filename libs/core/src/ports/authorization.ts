import type { ToolEffect } from '../tool/types.js';

/** What can be asked about. */
export const authorizationActions = ['tool.execute', 'connection.use'] as const;
export type AuthorizationAction = (typeof authorizationActions)[number];

/** What it is done to: a tool by its id, or a connection by its id. */
export interface AuthorizationResource {
  readonly type: 'tool' | 'connection';
  readonly id: string;
}

/** What else may decide; references only, never a secret. */
export interface AuthorizationContext {
  readonly tenantId: string;
  readonly runId: string;
  /** The effect of the tool that is run or that uses the connection. */
  readonly effect: ToolEffect;
}

/** `missing` is what an allowed request would have had to have. */
export type AuthorizationAnswer =
  { readonly allowed: true } | { readonly allowed: false; readonly missing: 'permission' | 'delegation' };

/**
 * Who may do what. Without a subject the actor needs the permission. With one the actor acts on its behalf:
 * the subject needs the permission, and the actor the delegation; neither stands for the other.
 * Throws where it cannot decide, which is an outage and no answer.
 */
export interface AuthorizationPort {
  check(
    actor: string,
    subject: string | undefined,
    action: AuthorizationAction,
    resource: AuthorizationResource,
    context: AuthorizationContext,
  ): Promise<AuthorizationAnswer>;
}

export interface CedarProblem {
  readonly in: 'policies' | 'schema';
  readonly found: string;
  /** What to do, where it is not the text that has to change. */
  readonly write?: string;
}
