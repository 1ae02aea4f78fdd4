import { isJsonObject, type JsonObject } from '../json.js';
import type { Configuration } from '../settings/configuration.js';
import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { NamedAgent } from '../settings/named-agent.js';
import type { ToolEffect } from '../tool/types.js';
import { wildcard } from './defaults.js';
import { matchesPattern } from './matches-pattern.js';

/** Stands before a client’s own name of its tool: no tool of a configuration has an id that begins so. */
export const clientToolPrefix = 'client__';

/** The group of all tools of clients: a request that brings tools asks for these, whatever groups it names. */
export const clientToolGroup = 'client';

const clientToolType = 'client-tool';

/** A tool that a client runs itself, as its request describes it: the client’s words. */
export interface ClientTool {
  /** The client’s own name of it. */
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Hash over the canonical schema. */
  readonly hash: string;
}

/** What a request says of its client’s tools. */
interface ClientTools {
  readonly tools: readonly ClientTool[];
  /** Identifies what the client said up to here, so that another branch of its conversation is seen. */
  readonly said: string;
}

/** Whether the id is that of a client’s tool. */
export function isClientTool(id: string): boolean {
  return id.startsWith(clientToolPrefix);
}

export function clientToolId(name: string): string {
  return `${clientToolPrefix}${name}`;
}

/** What the text of a record says of a client’s tools; null where it is no such text. */
export function clientToolsIn(text: string): ClientTools | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { tools, said } = isJsonObject(value) ? value : {};
  if (!Array.isArray(tools) || typeof said !== 'string') return null;
  const isTool = (tool: unknown): boolean =>
    isJsonObject(tool) &&
    ['name', 'description', 'hash'].every((key) => typeof tool[key] === 'string') &&
    isJsonObject(tool['schema']);
  return tools.every(isTool) ? { tools: tools as unknown as readonly ClientTool[], said } : null;
}

/** Whether a tool of the configuration has the name that a client’s tool would have here. */
export function isConfiguredName(name: string, { tools }: Pick<Configuration, 'tools'>): boolean {
  const id = clientToolId(name);
  return tools.some((tool) => tool.key === id || tool.id === id);
}

/** Whether an agent that takes the client’s tools with these names or patterns takes this one. */
export function takesClientTool(taken: readonly string[] | undefined, name: string): boolean {
  return (taken ?? []).some((pattern) => matchesPattern(pattern, name));
}

/** The configuration as a run has it whose client brought tools: those that its agent takes stand behind all others. */
export function withClientTools(
  configuration: Configuration,
  tools: readonly ClientTool[],
  { clientTools: taken, clientEffects = {} }: Pick<NamedAgent, 'clientTools' | 'clientEffects'>,
): Configuration {
  const own = tools
    .filter(({ name }) => takesClientTool(taken, name) && !isConfiguredName(name, configuration))
    .map((tool) => configured(tool, effectOf(tool, clientEffects), configuration));
  const { policy } = configuration;
  return {
    ...configuration,
    tools: [...configuration.tools, ...own],
    policy: { ...policy, allowedTools: [...policy.allowedTools, ...own.map(({ id }) => id)] },
  };
}

function effectOf({ name }: ClientTool, effects: Readonly<Record<string, ToolEffect>>): ToolEffect {
  const found = Object.entries(effects).find(([pattern]) => matchesPattern(pattern, name));
  return found?.[1] ?? 'external_side_effect';
}

function configured(
  { name, description, schema, hash }: ClientTool,
  effect: ToolEffect,
  { limits }: Configuration,
): ConfiguredTool {
  const id = clientToolId(name);
  return {
    ...{ key: id, id, type: clientToolType, title: name, description },
    ...{ groups: [clientToolGroup], states: [wildcard], target: null },
    spec: { name: id, description, inputSchema: schema, redaction: { whole: true }, effect, schemaHash: hash },
    // What is repeated here is looking for the client’s result, which is kept.
    repeatable: true,
    timeoutMs: limits.toolMs,
    // Its client expects that the model sees what it brings.
    deferLoading: false,
    ...{ mcp: null, unavailable: null, isClients: true },
  };
}
