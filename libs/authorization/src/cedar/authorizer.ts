import { createHash } from 'node:crypto';
import type {
  AuthorizationAction,
  AuthorizationAnswer,
  AuthorizationContext,
  AuthorizationPort,
  AuthorizationResource,
  AuthorizationSettings,
} from '@sluice/core';
import type { CedarValueJson, DetailedError, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { declaredContexts } from './declared.js';
import type { DeclaredContext } from './declared.js';
import { engine } from './engine.js';
import { givenContext } from './given.js';
import { delegationAction, delegationQuestion, permissionQuestion, principalOf } from './question.js';
import { PolicySlices } from './slices.js';
import type { Question } from './question.js';

type Cedar = Extract<AuthorizationSettings, { readonly kind: 'cedar' }>;

type FromCall = Readonly<Record<string, CedarValueJson>>;

/** Whether something is allowed, and the argument that is not as the schema declares it, where that is why not. */
interface May {
  readonly allowed: boolean;
  readonly argument?: string;
}

/**
 * Cedar policies as they were compiled. Permission and delegation are two questions, so that a policy that forgets
 * one of them denies. A policy that fails while it is evaluated is an outage, because a `forbid` that fails would
 * forbid nothing.
 */
export function cedarAuthorizer({ policies, schema, groups }: Cedar): AuthorizationPort {
  // Cedar keeps what it parsed under a name for ever; the same texts have the same name, whichever configuration they
  // are in.
  const name = `sluice-${createHash('sha256')
    .update(JSON.stringify([policies, schema]))
    .digest('hex')}`;
  const parents = parentsIn(groups);
  let slices: PolicySlices | undefined;
  let declared: ReadonlyMap<string, DeclaredContext> | undefined;
  const declaredFor = (action: string): DeclaredContext => {
    declared ??= declaredContexts(schema);
    return declared.get(action) ?? {};
  };
  const parse = (): PolicySlices => {
    const { preparsePolicySet, preparseSchema } = engine();
    for (const answer of [preparsePolicySet(name, { staticPolicies: policies }), preparseSchema(name, schema)])
      if (answer.type === 'failure') throw failed(answer.errors);
    return new PolicySlices(name, policies);
  };

  const entity = (principal: string): EntityJson | null => {
    const uid = principalOf(principal);
    return uid && { uid, attrs: {}, parents: (parents.get(principal) ?? []).map((id) => ({ type: 'Group', id })) };
  };
  const allows = (question: Question): boolean => {
    slices ??= parse();
    const answer = engine().statefulIsAuthorized({
      ...question,
      preparsedPolicySetId: slices.setFor(question),
      preparsedSchemaName: name,
      validateRequest: true,
    });
    if (answer.type === 'failure') throw failed(answer.errors);
    const { decision, diagnostics } = answer.response;
    if (diagnostics.errors.length > 0) throw failed(diagnostics.errors.map(({ error }) => error));
    return decision === 'allow';
  };

  /** Whether the action may be done with what its context declares of the call; which argument does not fit, if one. */
  const may = (action: string, context: AuthorizationContext, ask: (call: FromCall) => Question): May => {
    const given = givenContext(declaredFor(action), context);
    if (given.fits) return { allowed: allows(ask(given.context)) };
    return { allowed: false, ...(given.part === 'arguments' && given.name !== '' ? { argument: given.name } : {}) };
  };
  const decide = (
    actor: string,
    subject: string | undefined,
    action: AuthorizationAction,
    resource: AuthorizationResource,
    context: AuthorizationContext,
  ): AuthorizationAnswer => {
    const acting = entity(actor);
    const permitted = subject === undefined ? acting : entity(subject);
    if (permitted === null) return { allowed: false, missing: 'permission' };
    const { allowed, ...why } = may(action, context, (call) =>
      permissionQuestion(permitted, action, resource, context, call),
    );
    if (!allowed) return { allowed, missing: 'permission', ...why };
    if (subject === undefined) return { allowed };
    if (acting === null) return { allowed: false, missing: 'delegation' };
    const { allowed: delegated, ...whyNot } = may(delegationAction, context, (call) =>
      delegationQuestion(acting, permitted, action, resource, context, call),
    );
    return delegated ? { allowed: true } : { allowed: false, missing: 'delegation', ...whyNot };
  };

  return {
    // Asynchronous, so that what Cedar throws is a rejection like any other authorizer's.
    check: async (actor, subject, action, resource, context) => {
      const answer = decide(actor, subject, action, resource, context);
      if (answer.allowed || context.arguments === undefined) return answer;
      // Of arguments those alone hear who may use the tool with others.
      const { arguments: _arguments, ...rest } = context;
      const { missing, argument = null } = answer;
      return decide(actor, subject, action, resource, rest).allowed
        ? { allowed: false, missing, argument }
        : { allowed: false, missing };
    },
    looksAtArguments: () => {
      if (declared === undefined) declaredFor(delegationAction);
      return [...(declared?.values() ?? [])].some((context) => context.arguments !== undefined);
    },
  };
}

/** The groups of each principal that is in one. */
function parentsIn(groups: Cedar['groups']): ReadonlyMap<string, readonly string[]> {
  const parents = new Map<string, string[]>();
  for (const [group, members] of Object.entries(groups))
    for (const member of new Set(members)) {
      const before = parents.get(member);
      if (before === undefined) parents.set(member, [group]);
      else before.push(group);
    }
  return parents;
}

function failed(errors: readonly DetailedError[]): Error {
  return new Error(`Cedar cannot decide: ${errors.map(({ message }) => message).join('; ')}`);
}
