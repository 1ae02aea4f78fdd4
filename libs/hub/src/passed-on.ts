import { specTypeSchemas } from '@modelcontextprotocol/client';
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isJsonObject, matchesPattern, ToolUserError } from '@sluice/core';
import type { TextMode, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import { hidden } from './call-result.js';
import { described } from './offered-texts.js';

/** Pages and entries of a list that are looked at. */
const mostPages = 50;
const mostEntries = 1_000;
const anything = z.unknown();

/**
 * What a server has of resources or a prompt, for MCP clients: without arguments a list of those that the entry
 * passes on, else what was asked for. Nothing outside the pattern or of another name is asked for.
 */
export async function passedOn(
  client: Client,
  kind: PassedOnKind,
  pattern: string,
  args: JsonObject,
  options: RequestOptions,
  { hide, mode }: { readonly hide: ((text: string) => string) | null; readonly mode: TextMode },
): Promise<JsonValue> {
  const value = await (kind === 'resource' ? resources : prompt)(client, pattern, args, options, mode);
  return hide === null ? value : hidden(value, hide);
}

async function resources(
  client: Client,
  pattern: string,
  { uri }: JsonObject,
  options: RequestOptions,
  mode: TextMode,
): Promise<JsonValue> {
  if (uri === undefined) {
    const isPassedOn = (field: string) => (one: JsonObject) =>
      typeof one[field] === 'string' && matchesPattern(pattern, one[field]);
    const [all, templates] = [
      await listed(client, 'resources/list', 'resources', options),
      await listed(client, 'resources/templates/list', 'resourceTemplates', options),
    ];
    return {
      resources: described(all.filter(isPassedOn('uri')), mode),
      templates: described(templates.filter(isPassedOn('uriTemplate')), mode),
    };
  }
  if (typeof uri !== 'string' || !matchesPattern(pattern, uri))
    throw new ToolUserError(`There is no such resource here: the addresses are those of ${pattern}.`);
  const answer = await client.request({ method: 'resources/read', params: { uri } }, anything, options);
  return sound(specTypeSchemas.ReadResourceResult, answer, ['contents']);
}

async function prompt(
  client: Client,
  name: string,
  { arguments: given }: JsonObject,
  options: RequestOptions,
  mode: TextMode,
): Promise<JsonValue> {
  if (given === undefined) {
    const prompts = await listed(client, 'prompts/list', 'prompts', options);
    return {
      prompts: described(
        prompts.filter((one) => one['name'] === name),
        mode,
      ),
    };
  }
  const params = { name, arguments: given as Record<string, string> };
  const answer = await client.request({ method: 'prompts/get', params }, anything, options);
  const got = sound(specTypeSchemas.GetPromptResult, answer, ['description', 'messages']);
  const [shown] = described([got], mode);
  if (shown === undefined) throw new ToolUserError('The description of this prompt is held back.');
  return shown;
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

type Schema = (typeof specTypeSchemas)['ReadResourceResult'] | (typeof specTypeSchemas)['GetPromptResult'];

/** These members of an answer of the protocol’s form; throws for any other answer. */
function sound(schema: Schema, answer: unknown, members: readonly string[]): JsonObject {
  const read = schema['~standard'].validate(answer);
  if (read instanceof Promise || read.issues !== undefined) throw new Error('The server’s answer is not of its form.');
  const value = read.value as unknown as JsonObject;
  return Object.fromEntries(members.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));
}
