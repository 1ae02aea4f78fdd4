import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, JsonObject, ToolEffect, ToolIcon } from '@sluice/core';
import { mayBeTask } from './tasks.js';

/** What MCP clients read about a tool’s behaviour; hints, as the protocol says. */
interface Annotations {
  readonly title?: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** The SDK's type of it wants lists that may change. */
type ServedIcon = Omit<ToolIcon, 'sizes'> & { sizes?: string[] };

/** A tool as `tools/list` has it. */
export interface ServedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & JsonObject;
  readonly outputSchema?: { readonly type: 'object' } & JsonObject;
  readonly annotations: Annotations;
  readonly icons?: ServedIcon[];
  /** Whether it may be called as a task; the newest revision has no such member. */
  readonly execution?: { readonly taskSupport: 'optional' };
  /** No member of the protocol; clients pass over what they do not know (XM-2). */
  readonly examples?: readonly JsonObject[];
}

type Named = Pick<ConfiguredTool, 'id' | 'key' | 'mcp'>;

/** MCP clients take letters, digits, `_`, `-` and `.`, and a colon in the names of the `uri` strategy. */
const clientsName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * The name under which clients know the tool: the one that its server’s tools are served under, else its key, else
 * its id.
 */
function servedName({ id, key, mcp }: Named): string {
  if (mcp !== null) return mcp.served;
  return clientsName.test(key) ? key : id;
}

/**
 * The tools by the names under which they are served. Names are looked up and never split. Where two tools would have
 * one name, both are served under their ids.
 */
export function servedNames<T extends Named>(tools: readonly T[]): ReadonlyMap<string, T> {
  const sharing = Map.groupBy(tools, servedName);
  const named = new Map<string, T>();
  for (const [name, those] of sharing) if (those.length === 1 && those[0] !== undefined) named.set(name, those[0]);
  for (const those of sharing.values()) if (those.length > 1) for (const tool of those) named.set(tool.id, tool);
  return named;
}

/** What a tool’s effect means to a client (XB-31): where nothing else is known, the tool may destroy. */
export function annotationsOf(effect: ToolEffect, repeatable: boolean): Omit<Annotations, 'title'> {
  switch (effect) {
    case 'read_only':
      return { readOnlyHint: true, destructiveHint: false, openWorldHint: true };
    case 'state_change':
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: repeatable, openWorldHint: false };
    case 'external_side_effect':
      return { readOnlyHint: false, destructiveHint: true, idempotentHint: repeatable, openWorldHint: true };
  }
}

/** The tool under its name for clients. Throws for a tool without a specification, which is never offered. */
export function servedTool(tool: ConfiguredTool, name: string): ServedTool {
  const { spec } = tool;
  if (spec === null) throw new Error(`The tool ${tool.key} was offered without a specification.`);
  const title = tool.title === tool.key ? {} : { title: tool.title };
  const output = outputSchemaOf(tool);
  return Object.freeze({
    name,
    ...title,
    description: spec.description,
    inputSchema: asObject(spec.inputSchema),
    ...(output === null ? {} : { outputSchema: asObject(output) }),
    annotations: { ...title, ...annotationsOf(spec.effect, tool.repeatable) },
    ...iconsOf(tool),
    ...(mayBeTask(tool) ? { execution: { taskSupport: 'optional' as const } } : {}),
    ...(tool.examples === undefined ? {} : { examples: tool.examples }),
  });
}

/** The picture of the tool's entry, else those that its server gives it. */
function iconsOf({ icon, icons = [] }: ConfiguredTool): { readonly icons?: ServedIcon[] } {
  if (icon !== undefined) {
    const [, mimeType] = /^data:(image\/[a-z+]+);/.exec(icon) ?? [];
    return { icons: [mimeType === undefined ? { src: icon } : { src: icon, mimeType }] };
  }
  if (icons.length === 0) return {};
  return { icons: icons.map(({ sizes, ...rest }) => (sizes === undefined ? rest : { ...rest, sizes: [...sizes] })) };
}

/**
 * What clients may hold a result to: only where a redaction leaves the result as the server promised it, and the
 * promise is an object.
 */
function outputSchemaOf({ spec, mcp }: Pick<ConfiguredTool, 'spec' | 'mcp'>): JsonObject | null {
  const schema = mcp?.outputSchema ?? null;
  return schema !== null && schema['type'] === 'object' && spec !== null && 'whole' in spec.redaction ? schema : null;
}

/** What an upstream server wants as headers, the hub sends: clients of the hub need not. */
function asObject(schema: JsonObject): { readonly type: 'object' } & JsonObject {
  return { ...withoutHeaders(schema), type: 'object' };
}

function withoutHeaders({ properties, 'x-mcp-header': _, ...schema }: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return properties === undefined ? schema : { ...schema, properties };
  const within = Object.entries(properties).map(([name, one]) => [name, isJsonObject(one) ? withoutHeaders(one) : one]);
  return { ...schema, properties: Object.fromEntries(within) as JsonObject };
}
