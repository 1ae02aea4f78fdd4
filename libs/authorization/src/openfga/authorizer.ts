import { inexactNumbers, partsOfPath, principalKinds, valuesAt } from '@sluice/core';
import type {
  ArgumentObject,
  AuthorizationContext,
  AuthorizationPort,
  AuthorizationSettings,
  JsonValue,
} from '@sluice/core';

type OpenFga = Extract<AuthorizationSettings, { readonly kind: 'openfga' }>;

/** A question to OpenFGA: has the user this relation to the object? */
interface Check {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
}

/** Of an answer, in bytes. */
const longestAnswer = 65_536;

/** Objects that the values of one argument may be in a call, and characters that the store takes of one. */
const mostObjects = 20;
const longestObject = 256;

/**
 * A store of OpenFGA. Permission and delegation are two checks, so that a model that forgets one of them denies.
 * Principals are named with their tenant, so that users of two tenants with one name are two. An answer is not kept:
 * what is written there holds at once. Where a tool's arguments name objects, whom the call is for needs the
 * relation to each of them.
 */
export function openFgaAuthorizer(
  { url, store, model, keyEnv, timeoutMs, arguments: named = {}, context: told = [] }: OpenFga,
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

  const objectsOf = (toolId: string): readonly ArgumentObject[] =>
    Object.hasOwn(named, toolId) ? (named[toolId] ?? []) : [];
  /** The first argument with a value to which the user has not the relation; null for none. */
  const deniedArgument = async (
    user: string,
    toolId: string,
    { arguments: args, tenantId }: AuthorizationContext,
    given: object,
  ): Promise<string | null> => {
    if (args === undefined) return null;
    for (const { path, type, relation } of objectsOf(toolId)) {
      const objects = objectsIn(args, path, type, tenantId);
      if (objects === null) return path;
      const all = await Promise.all(objects.map((object) => allows({ user, relation, object }, given)));
      if (all.includes(false)) return path;
    }
    return null;
  };

  return {
    looksAtArguments: (toolId) => told.includes('arguments') || objectsOf(toolId).length > 0,
    check: async (actor, subject, action, { type, id }, context) => {
      // A condition would compare another number than the tool is given.
      if (told.includes('arguments') && inexactNumbers(context.arguments ?? {}).length > 0)
        return { allowed: false, missing: 'permission', argument: null };
      const acting = userOf(actor, context);
      const permitted = subject === undefined ? acting : userOf(subject, context);
      const more = told.map((part) => [part, context[part] ?? {}] as const);
      const given = {
        ...{ tenant: context.tenantId, effect: context.effect, action, resource: id },
        ...Object.fromEntries(more),
      };
      const relation = action === 'tool.execute' ? 'can_execute' : 'can_use';
      const object = `${type}:${escaped(id)}`;
      if (permitted === null || !(await allows({ user: permitted, relation, object }, given)))
        return { allowed: false, missing: 'permission' };
      const argument = action === 'tool.execute' ? await deniedArgument(permitted, id, context, given) : null;
      if (argument !== null) return { allowed: false, missing: 'permission', argument };
      if (subject === undefined) return { allowed: true };
      const delegated =
        acting !== null && (await allows({ user: acting, relation: 'can_act_for', object: permitted }, given));
      return delegated ? { allowed: true } : { allowed: false, missing: 'delegation' };
    },
  };
}

/** The objects that an argument names; null where one is none, or where there are too many. */
function objectsIn(args: JsonValue, path: string, type: string, tenantId: string): readonly string[] | null {
  const { values, isAstray } = valuesAt(args, partsOfPath(path));
  const all = values.flatMap((value) => (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]));
  const names = new Set(all.map((value) => (typeof value === 'object' ? '' : String(value))));
  if (isAstray || names.size > mostObjects || ![...names].every((name) => name !== '' && name.isWellFormed()))
    return null;
  const objects = [...names].map((name) => `${type}:${escaped(tenantId)}/${escaped(name)}`);
  return objects.every(({ length }) => length <= longestObject) ? objects : null;
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
