import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** The member of `_meta` that says of what kind the arguments of a call were, where they were no object. */
export const argumentsKind = 'sluice/arguments_kind';

/**
 * A message as the protocol has it, from one as clients write it: `null` stands for a member that is left out, and
 * arguments that are no object are taken out of the call, so that its answer is one that the model reads (M-30). The
 * same object where there is nothing to change.
 */
export function messageOfClient(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || typeof message['method'] !== 'string') return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isJsonObject(params)) return message;
  const stated = withoutNulls(params);
  const { _meta } = stated;
  const named = isJsonObject(_meta) ? withMember(stated, '_meta', withoutNulls(_meta)) : stated;
  const own = isCall(message) ? withArgumentsOfAnObject(named) : named;
  return own === params ? message : { ...message, params: own };
}

/** Whether the message begins a session. */
export function isInitialize(message: JsonValue): boolean {
  return isJsonObject(message) && message['method'] === 'initialize';
}

/** Whether the message is a call of a tool. */
export function isCall(message: JsonObject): boolean {
  return message['method'] === 'tools/call';
}

/** Whether the request may take long. All else is asked again as easily as its answer is sent again. */
export function takesLong(request: JsonObject): boolean {
  return isCall(request) || ['prompts/get', 'resources/read', 'tasks/result'].includes(String(request['method']));
}

/** Of a call whose arguments were no object: the sentence that the model reads. Null for any other. */
export function argumentsRefusal(meta: Readonly<Record<string, unknown>> | undefined, name: string): string | null {
  const kind = meta?.[argumentsKind];
  if (typeof kind !== 'string') return null;
  return `The arguments came as ${Object.hasOwn(kindPhrases, kind) ? kindPhrases[kind] : 'something else'}, and must be one JSON object. Call ${name} again with an object, as in {"name": "value"}.`;
}

const kindPhrases: Readonly<Record<string, string>> = {
  string: 'a text, which may hold JSON',
  array: 'a list',
  number: 'a number',
  boolean: 'true or false',
};

function withArgumentsOfAnObject(params: JsonObject): JsonObject {
  const { arguments: given, ...rest } = params;
  if (given === undefined || isJsonObject(given)) return params;
  const kind = Array.isArray(given) ? 'array' : typeof given;
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return { ...rest, _meta: { ...meta, [argumentsKind]: kind } };
}

function withoutNulls(members: JsonObject): JsonObject {
  const kept = Object.entries(members).filter(([, value]) => value !== null);
  return kept.length === Object.keys(members).length ? members : Object.fromEntries(kept);
}

function withMember(members: JsonObject, name: string, value: JsonValue): JsonObject {
  return members[name] === value ? members : { ...members, [name]: value };
}
