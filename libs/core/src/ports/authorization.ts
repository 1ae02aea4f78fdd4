import type { JsonValue } from '../json.js';
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
  /**
   * The arguments of the call, with the defaults of the tool’s schema; absent where nothing is called, as for a list of
   * tools, and for an authorizer that does not look at them.
   */
  readonly arguments?: JsonValue;
  /** Values of the caller’s claims that the configuration names; absent where nothing is called. */
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  /** What was found out for rules beside the record, by name; absent where nothing is called. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** Not allowed. */
export interface AuthorizationDenial {
  readonly allowed: false;
  /** What an allowed request would have had to have. */
  readonly missing: 'permission' | 'delegation';
  /**
   * The argument for whose value it is denied, null for all of them together; absent where it is denied whatever the
   * arguments are.
   */
  readonly argument?: string | null;
}

export type AuthorizationAnswer = { readonly allowed: true } | AuthorizationDenial;

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
  /** Whether it looks at the arguments of a call of this tool; absent: never. Throws where it cannot decide. */
  looksAtArguments?(toolId: string): boolean;
}

export interface CedarProblem {
  readonly in: 'policies' | 'schema';
  readonly found: string;
  /** What to do, where it is not the text that has to change. */
  readonly write?: string;
}
