import { type ToolEntry } from './entries.js';
import { isServerTool, openApiToolType, quote } from '@sluice/core';
import type { Problem } from '@sluice/core';
import { type McpBinding, type McpSettings, bindingOf, unboundServer } from './mcp.js';

/** The longest name that every model's wire takes. */
const longestId = 64;

/** A tool with the id under which models, policy and audit know it. */
export interface IdentifiedTool {
  readonly entry: ToolEntry;
  readonly id: string;
  /** Where an mcp-tool runs; null for other types, and while that is not written. */
  readonly binding: McpBinding | null;
  /** Why the id cannot be offered, for mcp-tools; null if it can. */
  readonly unusable: string | null;
}

/** Tools by id and by key; where one tool's key is another's id, which is a mistake of its own, the key counts. */
export function toolsByName(tools: readonly IdentifiedTool[]): ReadonlyMap<string, IdentifiedTool> {
  const byName = new Map<string, IdentifiedTool>();
  for (const tool of tools) byName.set(tool.id, tool);
  for (const tool of tools) byName.set(tool.entry.key, tool);
  return byName;
}

/** Characters that some provider's wire refuses become `_`. */
export function safe(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_');
}

/**
 * Gives every tool its id. Ids are looked up, never taken apart, so the separator may occur in names. What is wrong
 * with a tool that its server brought (`brought`, keys) hides it alone.
 */
export function identify(
  entries: readonly ToolEntry[],
  mcp: McpSettings,
  problems: Problem[],
  brought: ReadonlySet<string> = new Set(),
): readonly IdentifiedTool[] {
  const named = entries.map((entry) => {
    if (!isServerTool(entry.type)) return { entry, id: `core__${safe(entry.key)}`, binding: null };
    const binding = bindingOf(entry, mcp);
    const name = binding?.kind == null ? (binding?.tool ?? entry.key) : `${binding.kind}_${entry.key}`;
    const kind = entry.type === openApiToolType ? 'api' : 'mcp';
    const id = `${kind}__${binding?.server ?? unboundServer}__${safe(name)}`;
    return { entry, id, binding };
  });
  const sharing = Map.groupBy(named, (tool) => tool.id);
  reportSameBinding(named, problems, brought);
  const keys = new Set(entries.map(({ key }) => key));
  for (const tool of named) {
    const other = sharing.get(tool.entry.key)?.find(({ entry }) => !brought.has(entry.key));
    if (other === undefined) continue;
    const found = `the key ${quote(tool.entry.key)}, which is the id of the tool ${quote(other.entry.key)}`;
    problems.push({ path: tool.entry.path, found, write: 'another key' });
  }
  return named.map((tool) => {
    const others = (sharing.get(tool.id) ?? []).filter((one) => one !== tool).map((one) => one.entry.key);
    const wrong =
      wrongId(tool.id, others) ??
      (brought.has(tool.entry.key) && keys.has(tool.id) ? `\`${tool.id}\` is the key of another tool` : null);
    if (wrong === null || isServerTool(tool.entry.type)) return { ...tool, unusable: wrong };
    problems.push({
      path: tool.entry.path,
      found: `a key whose id ${wrong}`,
      write: 'a shorter key, or one that differs in letters and digits',
    });
    return { ...tool, unusable: null };
  });
}

function wrongId(id: string, others: readonly string[]): string | null {
  if (id.length > longestId)
    return `would have ${String(id.length)} characters, and ${String(longestId)} is the most that models take`;
  if (others.length > 0) return `\`${id}\` is also that of ${others.map(quote).join(', ')}`;
  return null;
}

function reportSameBinding(
  tools: readonly { readonly entry: ToolEntry; readonly binding: McpBinding | null }[],
  problems: Problem[],
  brought: ReadonlySet<string>,
): void {
  const first = new Map<string, ToolEntry>();
  for (const { entry, binding } of tools) {
    if (binding === null) continue;
    const place = JSON.stringify([binding.server, binding.kind, binding.tool]);
    const other = first.get(place);
    if (other === undefined) {
      first.set(place, entry);
      continue;
    }
    // Two patterns match it, and nothing says which entry is meant: their equal ids hide both.
    if (brought.has(entry.key) || brought.has(other.key)) continue;
    problems.push({
      path: entry.path,
      found: `the ${binding.kind ?? 'tool'} ${quote(binding.tool)} of the server ${quote(binding.server)}, which ${other.path} is bound to already`,
      write: 'one entry for it, or another `mcp_tool_id`',
    });
  }
}
