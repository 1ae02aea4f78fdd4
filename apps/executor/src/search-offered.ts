import { discoveryRanges, firstSentence } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { longestPattern, searchTools } from '@sluice/discovery';
import { mostNamed } from '@sluice/run';
import type { RunTools } from '@sluice/run';
import type { SearchedToolset } from '@sluice/tools';

/** Answers a search for tools from those that the turn was offered. It decides no right: what it finds may be called anyway. */
export async function searchOffered(
  query: string,
  offered: ReturnType<RunTools['searchable']>,
  { agentDiscovery }: Pick<Configuration, 'agentDiscovery'>,
): Promise<SearchedToolset> {
  const most = agentDiscovery?.maxSearchResults ?? discoveryRanges.max_search_results.byDefault;
  const searched = offered.map(({ id, description, inputSchema }) => ({
    ...{ name: id, description, parameters: inputSchema },
  }));
  const { by, matches } = searchTools(searched, query, {
    maxResults: Math.min(most, mostNamed),
    alwaysKeep: new Set(),
  });
  const tools = matches.flatMap((index) => {
    const tool = offered[index];
    if (tool === undefined) return [];
    return [{ name: tool.id, description: tool.shortDescription || firstSentence(tool.description) }];
  });
  return { tools, note: [...(by === 'keywords' ? [noPattern] : []), noteOn(tools.length)].join(' ') };
}

const noPattern =
  `The query is no regular expression that can be run (RE2: no look-around, no back-references, ${longestPattern} characters at most), ` +
  'so its words were looked for. Write a few words, or a pattern such as "file|directory".';

function noteOn(found: number): string {
  if (found === 0) return 'No tool matches. Search again with other or fewer words, or answer without a tool.';
  return `${found === 1 ? 'This tool' : `These ${found} tools`} can be called from your next turn on.`;
}
