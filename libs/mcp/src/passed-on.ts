import { isJsonObject, matchesPattern, wildcard } from '@sluice/core';
import type { ConfiguredTool, Evaluator, JsonObject, JsonValue, PassedOnKind } from '@sluice/core';
import { offeredTo } from './tool-list.js';
import type { Asking } from './tool-list.js';

/**
 * The entries whose resources or prompts the caller may have now, in the order of the configuration: the decision
 * that is made of tools.
 */
export function passedOnTo(kind: PassedOnKind, asking: Asking, evaluator: Evaluator): readonly ConfiguredTool[] {
  const ids = evaluator.configuration.tools.flatMap(({ id, mcp }) => (mcp?.kind === kind ? [id] : []));
  return ids.length === 0 ? [] : offeredTo(asking, evaluator, ids);
}

/** Whether a configuration passes anything of the kind on. */
export function passesOn(kind: PassedOnKind, { configuration: { tools } }: Pick<Evaluator, 'configuration'>): boolean {
  return tools.some(({ mcp }) => mcp?.kind === kind);
}

/** Whether a server of resources that a configuration passes on says when they change. */
export function offersSubscriptions({ configuration: { tools } }: Pick<Evaluator, 'configuration'>): boolean {
  return tools.some(({ mcp }) => mcp?.subscribes === true);
}

/** Whether the resource of this address is one of the entry’s. */
export function hasResource({ mcp }: Pick<ConfiguredTool, 'mcp'>, uri: string): boolean {
  return mcp !== null && matchesPattern(mcp.tool, uri);
}

/** The name of a prompt at its server; null where it is none of the entry’s. By a pattern it is `<key>/<name>`. */
export function promptIn({ key, mcp }: Pick<ConfiguredTool, 'key' | 'mcp'>, name: string): string | null {
  if (mcp === null) return null;
  if (!mcp.tool.includes(wildcard)) return name === key ? mcp.tool : null;
  const own = name.startsWith(`${key}/`) ? name.slice(key.length + 1) : null;
  return own !== null && matchesPattern(mcp.tool, own) ? own : null;
}

/** A prompt as clients are listed it: the names of several servers may meet. */
export function listedPrompt({ key, mcp }: Pick<ConfiguredTool, 'key' | 'mcp'>, prompt: JsonObject): JsonObject {
  return { ...prompt, name: mcp?.tool.includes(wildcard) === true ? `${key}/${String(prompt['name'])}` : key };
}

/** What an entry’s call is to say of a prompt: by a pattern, which one. */
export function promptArguments({ mcp }: Pick<ConfiguredTool, 'mcp'>, name: string, args: JsonObject): JsonObject {
  return mcp?.tool.includes(wildcard) === true ? { name, ...args } : args;
}

/**
 * What was kept of contents or messages with bytes, in the form of the protocol again: the hub made blocks of them, as
 * of what a tool answers.
 */
export function passedOnIn({ content, roles, ...rest }: JsonObject): JsonObject {
  const blocks = content as readonly JsonObject[];
  if (roles === undefined) return { ...rest, contents: blocks.map(({ resource = null }) => resource) };
  const spoken = roles as readonly JsonValue[];
  return { ...rest, messages: blocks.map((block, at) => ({ role: spoken[at] ?? null, content: block })) };
}

/** What a finished call said, as the object that the hub makes of an upstream server’s answer; null for any other. */
export function saidIn(text: string): JsonObject | null {
  const value = JSON.parse(text) as JsonValue;
  return isJsonObject(value) ? value : null;
}

/** Entries of lists of several servers: of two with one address or name the first counts. */
export function eachOnce(lists: readonly (readonly JsonValue[])[], name: string): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const one of lists.flat())
    if (isJsonObject(one) && typeof one[name] === 'string' && !found.has(one[name])) found.set(one[name], one);
  return [...found.values()];
}
