import { discoveryRanges } from '@sluice/configuration';
import { firstSentence, longestPattern } from '@sluice/core';
import type { AgentDiscovery, Configuration } from '@sluice/core';
import { askSelector, searchTools } from '@sluice/discovery';
import type { Environment } from '@sluice/host';
import { mostNamed } from '@sluice/run';
import type { RunTools } from '@sluice/run';
import type { SearchedToolset } from '@sluice/tools';

type Offered = ReturnType<RunTools['searchable']>;

/** What a search for tools goes by. */
interface SearchParts {
  readonly settings: AgentDiscovery | undefined;
  readonly environment: Pick<Environment, 'secret'>;
  readonly signal: AbortSignal;
}

/**
 * Answers a search for tools from those that the turn was offered. It decides no right: what it finds may be called
 * anyway.
 */
export async function searchOffered(
  query: string,
  offered: Offered,
  { settings, environment, signal }: SearchParts,
): Promise<SearchedToolset> {
  const most = settings?.maxSearchResults ?? discoveryRanges.max_search_results.byDefault;
  const maxResults = Math.min(most, mostNamed);
  const searched = offered.map(({ id, description, inputSchema }) => ({
    ...{ name: id, description, parameters: inputSchema },
  }));
  // Where nothing is asked for, a service has nothing to go by.
  if (settings?.strategy !== 'api' || query.trim() === '') {
    const { by, isNoPattern, matches } = await searchTools(searched, query, { maxResults, alwaysKeep: new Set() });
    const note = [...(isNoPattern ? [noPattern] : []), noteOn(matches.length)].join(' ');
    return { tools: named(offered, matches), by, fail_open: null, note };
  }
  const { alwaysKeep, api } = settings;
  const key = api.apiKeyEnv === null ? undefined : environment.secret(api.apiKeyEnv);
  const asked = { pattern: query, topK: maxResults, alwaysKeep, tools: searched };
  const { selected, failOpen } = await askSelector(api, key, asked, signal);
  if (failOpen !== null) {
    const all = offered.map((_, index) => index);
    return { tools: named(offered, all), by: 'all', fail_open: failOpen, note: allNote };
  }
  const tools = named(offered, selected);
  return { tools, by: 'api', fail_open: null, note: noteOn(tools.length) };
}

function named(offered: Offered, order: readonly number[]): SearchedToolset['tools'] {
  return order.slice(0, mostNamed).flatMap((index) => {
    const tool = offered[index];
    if (tool === undefined) return [];
    return [{ name: tool.id, description: tool.shortDescription || firstSentence(tool.description) }];
  });
}

const noPattern =
  `The query is no regular expression that can be run (RE2: no look-around, no back-references, ${longestPattern} characters and small repetition counts at most), ` +
  'so its words were looked for. Write a few words, or a pattern such as "file|directory".';
const allNote = 'The search has no selection, so all your tools can be called from your next turn on.';

function noteOn(found: number): string {
  if (found === 0) return 'No tool matches. Search again with other or fewer words, or answer without a tool.';
  return `${found === 1 ? 'This tool' : `These ${found} tools`} can be called from your next turn on.`;
}

/** Throws a sentence if the service that selects tools has a key here, and its variable is not set. */
export function requireSelectorKey(
  { agentDiscovery, agents = {} }: Pick<Configuration, 'agentDiscovery' | 'agents'>,
  environment: Pick<Environment, 'secret'>,
): void {
  const named = Object.entries(agents).map(([agent, own]) => [agent, own.agentDiscovery] as const);
  for (const [agent, settings] of [['default', agentDiscovery] as const, ...named]) {
    const name = settings?.strategy === 'api' ? settings.api.apiKeyEnv : null;
    if (name === null || environment.secret(name) !== undefined) continue;
    throw new Error(
      `The variable ${name} is not set, which agents.${agent}.tool_discovery names for the service that selects tools. Set it where the executor starts, or take the key out.`,
    );
  }
}
