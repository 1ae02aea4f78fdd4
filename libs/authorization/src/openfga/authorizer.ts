import { principalKinds } from '@sluice/core';
import type { AuthorizationContext, AuthorizationPort, AuthorizationSettings } from '@sluice/core';

type OpenFga = Extract<AuthorizationSettings, { readonly kind: 'openfga' }>;

/** A question to OpenFGA: has the user this relation to the object? */
interface Check {
  readonly user: string;
  readonly relation: 'can_execute' | 'can_use' | 'can_act_for';
  readonly object: string;
}

/** Of an answer, in bytes. */
const longestAnswer = 65_536;

/**
 * A store of OpenFGA. Permission and delegation are two checks, so that a model that forgets one of them denies.
 * Principals are named with their tenant, so that users of two tenants with one name are two. An answer is not kept:
 * what is written there holds at once.
 */
export function openFgaAuthorizer(
  { url, store, model, keyEnv, timeoutMs }: OpenFga,
  secret: (variable: string) => string | undefined,
): AuthorizationPort {
  const address = `${url.replace(/\/$/, '')}/stores/${encodeURIComponent(store)}/check`;

  const allows = async (check: Check, context: object): Promise<boolean> => {
    const key = keyEnv === null ? undefined : secret(keyEnv);
    if (keyEnv !== null && key === undefined) throw failed(address, `neither ${keyEnv} nor ${keyEnv}_FILE is set`);
    let response: Response;
    try {
      response = await fetch(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({
          tuple_key: check,
          context,
          ...(model === null ? {} : { authorization_model_id: model }),
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw failed(address, 'it cannot be reached in time', error);
    }
    const text = await response.text();
    if (response.status !== 200) throw failed(address, `it answered with ${response.status}`);
    const allowed = text.length > longestAnswer ? undefined : allowedIn(text);
    if (allowed === undefined) throw failed(address, 'its answer does not say whether it is allowed');
    return allowed;
  };

  return {
    check: async (actor, subject, action, { type, id }, context) => {
      const acting = userOf(actor, context);
      const permitted = subject === undefined ? acting : userOf(subject, context);
      const given = { tenant: context.tenantId, effect: context.effect, action, resource: id };
      const relation = action === 'tool.execute' ? 'can_execute' : 'can_use';
      const object = `${type}:${escaped(id)}`;
      if (permitted === null || !(await allows({ user: permitted, relation, object }, given)))
        return { allowed: false, missing: 'permission' };
      if (subject === undefined) return { allowed: true };
      const delegated =
        acting !== null && (await allows({ user: acting, relation: 'can_act_for', object: permitted }, given));
      return delegated ? { allowed: true } : { allowed: false, missing: 'delegation' };
    },
  };
}

/** `user:ann` of `acme` as `user:acme/ann`; null for what is no principal. */
function userOf(principal: string, { tenantId }: AuthorizationContext): string | null {
  const [kind = '', ...rest] = principal.split(':');
  if (!principalKinds.some((one) => one === kind) || rest.length === 0) return null;
  return `${kind}:${escaped(tenantId)}/${escaped(rest.join(':'))}`;
}

/** OpenFGA gives `:`, `#`, `@`, `*` and spaces a meaning, so that a name must not hold them. */
function escaped(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2A');
}

function allowedIn(text: string): boolean | undefined {
  try {
    const { allowed } = Object(JSON.parse(text)) as { readonly allowed?: unknown };
    return typeof allowed === 'boolean' ? allowed : undefined;
  } catch {
    return undefined;
  }
}

function failed(address: string, why: string, cause?: unknown): Error {
  return new Error(`OpenFGA at ${address} cannot decide: ${why}.`, { cause });
}
