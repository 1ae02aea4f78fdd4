import { sentenceList } from '@sluice/core';
import type { ConfiguredTool, Finding, ToolFile, ToolType } from '@sluice/core';

/** What tool files of allowed tools ask for of a network, what they use without asking for it, and what no tool has. */
export function findAboutNetwork(
  tools: readonly ConfiguredTool[],
  allowed: readonly string[],
  types: readonly ToolType[],
): readonly Finding[] {
  const used = new Set(tools.filter(({ id }) => allowed.includes(id)).map(({ type }) => type));
  return types.flatMap(({ type, file, networkUses = [], closedUses = [] }): readonly Finding[] => {
    if (file === undefined || !used.has(type)) return [];
    return [...ofNetwork(file, networkUses), ...ofWhatIsClosed(file, closedUses)];
  });
}

function ofWhatIsClosed({ path }: ToolFile, uses: readonly string[]): readonly Finding[] {
  return uses.length === 0 ? [] : [{ kind: 'closed_to_tools', path, message: closedToTools(uses) }];
}

function ofNetwork({ path, network }: ToolFile, networkUses: readonly string[]): readonly Finding[] {
  if (network === 'open') return [{ kind: 'open_network', path, message: openNetwork }];
  if (network !== undefined || networkUses.length === 0) return [];
  return [{ kind: 'no_network', path, message: noNetwork(networkUses) }];
}

function closedToTools(uses: readonly string[]): string {
  return `It uses ${sentenceList(uses)}, which no tool has: its process has no environment, writes nothing and starts nothing. Use a capability in its place, as workspace or connections, or make it an MCP server.`;
}

const openNetwork =
  "It declares network: 'open', so its tool reaches whatever this machine reaches, Sluice's own ports and private networks too. Name the hosts that it needs instead.";

function noNetwork(uses: readonly string[]): string {
  return `It uses ${sentenceList(uses)} and declares no network, so its requests fail. If it needs them, write network: ['api.example.com'] with its hosts into its definition.`;
}
