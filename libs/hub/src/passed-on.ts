import { specTypeSchemas } from '@modelcontextprotocol/client';
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isJsonObject, matchesPattern, ToolUserError, wildcard } from '@sluice/core';
import type { TextMode, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import { hidden } from './call-result.js';
import { withoutBytes } from './passed-on-bytes.js';
import type { Given } from './passed-on-bytes.js';
import { described } from './offered-texts.js';

/** Pages and entries of a list that are looked at. */
const mostPages = 50;
const mostEntries = 1_000;
/** Values of a completion, as the protocol has it. */
const mostValues = 100;
const anything = z.unknown();
const noSubscriptions = 'The server of this resource lets no client subscribe to it.';

/** How one of them is asked for. */
interface Asked {
  readonly pattern: string;
  readonly args: JsonObject;
  readonly options: RequestOptions;
  readonly mode: TextMode;
  /** Subscribes to a resource at the server; rejects with its refusal. */
  readonly subscribe: (uri: string) => Promise<void>;
}

/**
 * What a server has of resources or prompts, for MCP clients: without arguments a list of those that the entry passes
 * on, else what was asked for, or what may be written for an argument. Nothing outside the pattern is asked for.
 * `onAnswer` gets what has bytes in it, as blocks; the value then says how many these are.
 */
export async function passedOn(
  client: Client,
  kind: PassedOnKind,
  pattern: string,
  args: JsonObject,
  options: RequestOptions,
  {
    hide,
    mode,
    onAnswer,
    subscribe,
  }: {
    readonly hide: ((text: string) => string) | null;
    readonly mode: TextMode;
    readonly onAnswer: ((answer: JsonObject) => void) | undefined;
    readonly subscribe: Asked['subscribe'];
  },
): Promise<JsonValue> {
  const given = await (kind === 'resource' ? resources : prompts)(client, { pattern, args, options, mode, subscribe });
  const shown = <T extends JsonValue>(value: T): T => (hide === null ? value : (hidden(value, hide) as T));
  if (given.apart === undefined || onAnswer === undefined) return shown(given.value);
  onAnswer(shown(given.apart.answer));
  return shown(given.apart.value);
}

async function resources(client: Client, { pattern, args, options, mode, subscribe }: Asked): Promise<Given> {
  const { uri, complete } = args;
  if (uri === undefined) {
    const isPassedOn = (field: string) => (one: JsonObject) =>
      typeof one[field] === 'string' && matchesPattern(pattern, one[field]);
    const [all, templates] = [
      await listed(client, 'resources/list', 'resources', options),
      await listed(client, 'resources/templates/list', 'resourceTemplates', options),
    ];
    return {
      value: {
        resources: described(all.filter(isPassedOn('uri')), mode),
        templates: described(templates.filter(isPassedOn('uriTemplate')), mode),
      },
    };
  }
  if (typeof uri !== 'string' || !matchesPattern(pattern, uri))
    throw new ToolUserError(`There is no such resource here: the addresses are those of ${pattern}.`);
  if (complete !== undefined) return completed(client, { type: 'ref/resource', uri }, complete, options);
  if (args['subscribe'] === true) {
    if (client.getServerCapabilities()?.resources?.subscribe !== true) throw new ToolUserError(noSubscriptions);
    await subscribe(uri);
    return { value: { subscribed: uri } };
  }
  const answer = await client.request({ method: 'resources/read', params: { uri } }, anything, options);
  const read = sound(specTypeSchemas.ReadResourceResult, answer, ['contents', '_meta']);
  return withoutBytes(read, 'contents', (resource) => ({ type: 'resource', resource }));
}

async function prompts(client: Client, { pattern, args, options, mode }: Asked): Promise<Given> {
  const { arguments: given, complete } = args;
  const name = pattern.includes(wildcard) ? args['name'] : pattern;
  if (name === undefined || (given === undefined && complete === undefined && args['name'] === undefined)) {
    const all = await listed(client, 'prompts/list', 'prompts', options);
    const those = all.filter((one) => typeof one['name'] === 'string' && matchesPattern(pattern, one['name']));
    return { value: { prompts: described(those, mode) } };
  }
  if (typeof name !== 'string' || !matchesPattern(pattern, name))
    throw new ToolUserError(`There is no such prompt here: the names are those of ${pattern}.`);
  if (complete !== undefined) return completed(client, { type: 'ref/prompt', name }, complete, options);
  const params = { name, arguments: (given ?? {}) as Record<string, string> };
  const answer = await client.request({ method: 'prompts/get', params }, anything, options);
  const got = sound(specTypeSchemas.GetPromptResult, answer, ['description', 'messages', '_meta']);
  const [shown] = described([got], mode);
  if (shown === undefined) throw new ToolUserError('The description of this prompt is held back.');
  return withoutBytes(shown, 'messages', ({ content }) => content as JsonObject);
}

/** The values that an argument may have; none of a server that completes nothing, or says so in another form. */
async function completed(
  client: Client,
  ref: { readonly type: 'ref/prompt'; readonly name: string } | { readonly type: 'ref/resource'; readonly uri: string },
  complete: JsonValue,
  options: RequestOptions,
): Promise<Given> {
  const request = specTypeSchemas.CompleteRequestParams['~standard'].validate({ ...(complete as JsonObject), ref });
  if (
    request instanceof Promise ||
    request.issues !== undefined ||
    client.getServerCapabilities()?.completions === undefined
  )
    return { value: { values: [] } };
  const answer = await client.request({ method: 'completion/complete', params: request.value }, anything, options);
  const { completion } = sound(specTypeSchemas.CompleteResult, answer, ['completion']);
  const { values, total, hasMore } = completion as JsonObject;
  return {
    value: {
      values: (values as readonly JsonValue[]).slice(0, mostValues),
      ...(total === undefined ? {} : { total }),
      ...(hasMore === undefined ? {} : { hasMore }),
    },
  };
}

/** What is no object is left out; a server that does not know the list has none. */
async function listed(
  client: Client,
  method: 'resources/list' | 'resources/templates/list' | 'prompts/list',
  member: string,
  options: RequestOptions,
): Promise<readonly JsonObject[]> {
  const { resources: hasResources, prompts: hasPrompts } = client.getServerCapabilities() ?? {};
  if ((method === 'prompts/list' ? hasPrompts : hasResources) === undefined) return [];
  const found: JsonObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages && found.length < mostEntries; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = (await client.request({ method, params }, anything, options)) as Readonly<Record<string, JsonValue>>;
    const entries = answer[member];
    if (Array.isArray(entries)) found.push(...(entries as readonly JsonValue[]).filter(isJsonObject));
    const next = answer['nextCursor'];
    if (typeof next !== 'string' || next === cursor) break;
    cursor = next;
  }
  return found.slice(0, mostEntries);
}

type Schema = (typeof specTypeSchemas)['ReadResourceResult' | 'GetPromptResult' | 'CompleteResult'];

/** These members of an answer of the protocol’s form; throws for any other answer. */
function sound(schema: Schema, answer: unknown, members: readonly string[]): JsonObject {
  const read = schema['~standard'].validate(answer);
  if (read instanceof Promise || read.issues !== undefined) throw new Error('The server’s answer is not of its form.');
  const value = read.value as unknown as JsonObject;
  return Object.fromEntries(members.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));
}
