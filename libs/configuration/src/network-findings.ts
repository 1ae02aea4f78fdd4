import { sentenceList } from '@sluice/core';
import type { ConfiguredTool, Finding, ToolType } from '@sluice/core';

/** What tool files of allowed tools ask for of a network, and what they use without asking for it. */
export function findAboutNetwork(
  tools: readonly ConfiguredTool[],
  allowed: readonly string[],
  types: readonly ToolType[],
): readonly Finding[] {
  const used = new Set(tools.filter(({ id }) => allowed.includes(id)).map(({ type }) => type));
  return types.flatMap(({ type, file, networkUses = [] }): readonly Finding[] => {
    if (file === undefined || !used.has(type)) return [];
    const { path, network } = file;
    if (network === 'open') return [{ kind: 'open_network', path, message: openNetwork }];
    if (network !== undefined || networkUses.length === 0) return [];
    return [{ kind: 'no_network', path, message: noNetwork(networkUses) }];
  });
}

const openNetwork =
  "It declares network: 'open', so its tool reaches whatever this machine reaches, Sluice's own ports and private networks too. Name the hosts that it needs instead.";

function noNetwork(uses: readonly string[]): string {
  return `It uses ${sentenceList(uses)} and declares no network, so its requests fail. If it needs them, write network: ['api.example.com'] with its hosts into its definition.`;
}
