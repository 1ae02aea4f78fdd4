import { type Digest, type JsonObject, canonicalJson } from '../json.js';
import type { ToolSpec } from '../tool/types.js';
import type { IdentifiedTool } from './identities.js';
import { schemaProblems } from './input-schema.js';
import type { McpBinding } from './mcp.js';
import { quote } from './problems.js';
import { nearest } from './suggest.js';
import type { McpOffer, ToolType } from './types.js';

/** What a tool takes and gives, or the sentence that says why nobody knows. */
export type Specification =
  { readonly spec: ToolSpec; readonly unavailable: null } | { readonly spec: null; readonly unavailable: string };

/** A tool of a built-in type: schema, effect and redaction are the type's, the text is the entry's (ruling XB-46). */
export function specifyBuiltIn(tool: IdentifiedTool, type: ToolType, digest: Digest): Specification {
  const spec = {
    name: tool.id,
    description: tool.entry.description ?? type.description,
    inputSchema: type.inputSchema,
    redaction: type.redaction,
    effect: type.effect,
    schemaHash: hash(type.inputSchema, digest),
  };
  return { spec, unavailable: null };
}

/** An mcp-tool: the schema is the server's as it was offered, effect and redaction are those of `mcp.tools` (rulings XB-31, XB-47). */
export function specifyMcp(tool: IdentifiedTool, offers: readonly McpOffer[], digest: Digest): Specification {
  const { binding } = tool;
  if (binding === null)
    return withheld(
      `No entry ${quote(tool.entry.mcpToolId ?? tool.entry.key)} under mcp.tools names its server and tool.`,
    );
  if (tool.unusable !== null)
    return withheld(`Its id ${tool.unusable}; give it a shorter or a different name on the server.`);
  const offered = findOffer(binding, offers);
  if (typeof offered === 'string') return withheld(offered);
  const wrong = schemaProblems(offered.inputSchema);
  if (wrong.length > 0) return withheld(wrong.join(' '));
  if (binding.redaction === null)
    return withheld(`${binding.path} gives no redaction, so nothing of its results may leave it.`);
  const spec = {
    name: tool.id,
    description: tool.entry.description ?? offered.description,
    inputSchema: offered.inputSchema,
    redaction: binding.redaction,
    effect: binding.effect,
    schemaHash: hash(offered.inputSchema, digest),
  };
  return { spec, unavailable: null };
}

function findOffer(
  binding: McpBinding,
  offers: readonly McpOffer[],
): { description: string; inputSchema: JsonObject } | string {
  const offer = offers.find((one) => one.server === binding.server);
  if (offer === undefined) return `The server ${quote(binding.server)} was not asked what it offers.`;
  if ('error' in offer) return `The server ${quote(binding.server)} could not be asked what it offers: ${offer.error}`;
  const tool = offer.tools.find((one) => one.name === binding.tool);
  if (tool !== undefined) return tool;
  const near = nearest(
    binding.tool,
    offer.tools.map((one) => one.name),
  );
  const hint = near === undefined ? '' : ` It offers ${quote(near)}.`;
  return `The server ${quote(binding.server)} offers no tool ${quote(binding.tool)}.${hint}`;
}

function withheld(unavailable: string): Specification {
  return { spec: null, unavailable };
}

function hash(schema: JsonObject, digest: Digest): string {
  return digest(canonicalJson(schema));
}
