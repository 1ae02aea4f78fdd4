import { createHash } from 'node:crypto';
import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import type { DetailedError, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import { engine } from './engine.js';
import { delegationQuestion, permissionQuestion, principalOf } from './question.js';
import { PolicySlices } from './slices.js';
import type { Question } from './question.js';

type Cedar = Extract<AuthorizationSettings, { readonly kind: 'cedar' }>;

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

  return {
    // Asynchronous, so that what Cedar throws is a rejection like any other authorizer's.
    check: async (actor, subject, action, resource, context) => {
      const acting = entity(actor);
      const permitted = subject === undefined ? acting : entity(subject);
      if (permitted === null || !allows(permissionQuestion(permitted, action, resource, context)))
        return { allowed: false, missing: 'permission' };
      if (subject === undefined) return { allowed: true };
      const delegated = acting !== null && allows(delegationQuestion(acting, permitted, action, resource, context));
      return delegated ? { allowed: true } : { allowed: false, missing: 'delegation' };
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
