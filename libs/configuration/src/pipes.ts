import {
  choosingStrategies,
  discoveryStrategies,
  discoveryStrategy,
  nativeSearchKinds,
  nativeSearchModes,
  quote,
  suggestion,
} from '@sluice/core';
import type { Configuration, DiscoveryPipe, DiscoverySettings, Finding, Pipes, SelectorSettings } from '@sluice/core';
import { readDuration } from './duration.js';
import { readEmbeddings } from './embeddings.js';
import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import { namesVariable, notAVariable } from './variables.js';

/** Defaults and maxima of the numbers of discovery; the first two may be 0. */
export const discoveryRanges = {
  min_tools: { byDefault: 5, least: 0, most: 10_000 },
  max_tools: { byDefault: 25, least: 0, most: 10_000 },
  max_search_results: { byDefault: 5, least: 1, most: 1_000 },
} as const;
const targetRatio = 0.8;
const selectorTimeout = { byDefault: 2_000, most: 60_000 } as const;
export const defaultSearchTool = 'gateway_search_tools';

/** Names that every model API takes for a tool. */
const toolName = /^[A-Za-z0-9_-]{1,64}$/;

/** `pipes`; null where nothing is written, so that discovery is off. */
export function readPipes(file: Section, providers: Providers, findings: Finding[]): Pipes | null {
  if (!file.has('pipes')) return null;
  const section = file.section('pipes').closed(configurationKeys.pipes);
  const output = section.section('tool_output').closed(configurationKeys['pipes.tool_output']);
  return {
    toolDiscovery: readDiscoveryPipe(section.section('tool_discovery'), providers, findings),
    toolOutput: { enabled: output.flag('enabled') ?? false },
  };
}

function readDiscoveryPipe(section: Section, providers: Providers, findings: Finding[]): DiscoveryPipe {
  section.closed(configurationKeys['pipes.tool_discovery']);
  return {
    enabled: section.flag('enabled') ?? false,
    ...readDiscovery(section, readSelector(section, providers), findings),
    shadow: section.choice('shadow', choosingStrategies),
  };
}

/** The keys that discovery has wherever it is used; others are refused by the caller. */
export function readDiscovery(section: Section, api: SelectorSettings, findings: Finding[]): DiscoverySettings {
  const strategy = readStrategy(section, findings);
  const minTools = readCount(section, 'min_tools');
  const maxTools = readCount(section, 'max_tools');
  if (minTools > maxTools) {
    const message = `${section.at('min_tools')} is ${String(minTools)} and max_tools ${String(maxTools)}: ${String(minTools)} tools are kept, since the fewest outweigh the most.`;
    findings.push({ kind: 'min_above_max', path: section.at('min_tools'), message });
  }
  const wantsSearch = section.flag('enable_search_fallback') ?? false;
  return {
    strategy,
    minTools,
    maxTools,
    targetRatio: readRatio(section),
    alwaysKeep: section.names('always_keep', 'a list of tool names, such as `["read_file"]`') ?? [],
    enableSearchFallback: hasSearch(strategy, wantsSearch),
    searchToolName: readSearchTool(section),
    maxSearchResults: readCount(section, 'max_search_results'),
    api,
    ...(section.has('embeddings') ? { embeddings: readEmbeddings(section.section('embeddings')) } : {}),
    ...(section.flag('recent') === true ? { recent: true } : {}),
    ...readNativeSearch(section),
  };
}

function hasSearch(strategy: DiscoverySettings['strategy'], isWanted: boolean): boolean {
  const { search } = discoveryStrategy(strategy);
  switch (search) {
    case 'never':
      return false;
    case 'optional':
      return isWanted;
    case 'always':
    case 'service':
      return true;
  }
}

/** An unknown strategy changes nothing, which is said; it is no mistake (XS-27). */
function readStrategy(section: Section, findings: Finding[]): DiscoverySettings['strategy'] {
  const value = section.value('strategy');
  if (value === null) return 'passthrough';
  if (typeof value !== 'string') {
    section.refuse('strategy', suggestion('', discoveryStrategies));
    return 'passthrough';
  }
  const strategy = discoveryStrategies.find((one) => one === value);
  if (strategy !== undefined) return strategy;
  const message = `The strategy ${quote(value)} is unknown, so requests pass unchanged: write ${suggestion(value, discoveryStrategies)}.`;
  findings.push({ kind: 'unknown_strategy', path: section.at('strategy'), message });
  return 'passthrough';
}

function readNativeSearch(section: Section): Pick<DiscoverySettings, 'nativeSearch'> {
  const when = section.choice('native_search', nativeSearchModes) ?? 'never';
  const kind = section.choice('native_search_kind', nativeSearchKinds) ?? 'bm25';
  return when === 'never' ? {} : { nativeSearch: { when, kind } };
}

function readCount(section: Section, key: keyof typeof discoveryRanges): number {
  const { byDefault, least, most } = discoveryRanges[key];
  const value = section.value(key);
  if (value === null) return byDefault;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  section.refuse(key, `a whole number from ${String(least)} to ${String(most)}`);
  return byDefault;
}

function readRatio(section: Section): number {
  const value = section.value('target_ratio');
  if (value === null) return targetRatio;
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  section.refuse('target_ratio', 'a number from 0 to 1, such as `0.8`');
  return targetRatio;
}

function readSearchTool(section: Section): string {
  const name = section.text('search_tool_name', 'the name of a tool, such as `gateway_search_tools`');
  if (name === null || toolName.test(name)) return name ?? defaultSearchTool;
  section.refuse('search_tool_name', 'a name of at most 64 letters, digits, `_` and `-`, as model APIs take them');
  return defaultSearchTool;
}

export type Providers = ReadonlyMap<string, Partial<SelectorSettings>>;

/** `providers`: endpoints that settings name. */
export function readProviders(section: Section): Providers {
  return new Map(
    section.keys().map((name) => {
      const entry = section.section(name).closed(configurationKeys['providers.<provider>']);
      return [name, readEndpoint(entry)];
    }),
  );
}

/** What stands under `api` outweighs the entry that `provider` names (XS-28). */
export function readSelector(section: Section, providers: Providers): SelectorSettings {
  const own = readEndpoint(section.section('api').closed(configurationKeys['pipes.tool_discovery.api']));
  const name = section.text('provider', 'the name of an entry under `providers`');
  const named = name === null ? undefined : providers.get(name);
  if (name !== null && named === undefined) {
    const found = `the provider ${quote(name)}, which has no entry under providers`;
    section.problem(section.at('provider'), found, suggestion(name, [...providers.keys()]));
  }
  return { ...noSelector, ...named, ...own };
}

const noSelector: SelectorSettings = { endpoint: null, apiKeyEnv: null, timeoutMs: selectorTimeout.byDefault };

function readEndpoint(section: Section): Partial<SelectorSettings> {
  const endpoint = readAddress(section);
  const apiKeyEnv = readKey(section);
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(apiKeyEnv === null ? {} : { apiKeyEnv }),
    ...(section.has('timeout') ? { timeoutMs: readDuration(section, 'timeout', selectorTimeout) } : {}),
  };
}

/** An address that cannot be called, such as one with `<backend>` in it, fails open when it is. */
function readAddress(section: Section): string | null {
  const write = 'an address such as `https://selector.example/v1/tool-discovery/search`';
  const value = section.text('endpoint', write);
  if (value === null) return null;
  if (/^https?:\/\/[^/?#]*@/i.test(value)) {
    section.problem(section.at('endpoint'), 'an address with a user or a password in it', 'the address alone');
    return null;
  }
  return /^https?:\/\/\S+$/i.test(value) ? value : section.refuse('endpoint', write);
}

/** A key stands in an environment variable, as `${NAME}`: a configuration travels in the clear. */
function readKey(section: Section): string | null {
  const value = section.value('api_key');
  if (value === null) return null;
  const [, name = ''] = (typeof value === 'string' && /^\$\{([^}]*)\}$/.exec(value)) || [];
  if (namesVariable(name)) return name;
  const found = typeof value === 'string' ? notAVariable : 'a value that is not a text';
  section.problem(section.at('api_key'), found, '`${NAME}`, the environment variable that holds the key');
  return null;
}

/** Those who ask the service may have what is missing here; they do not start without. */
export function findAboutSelector(
  {
    pipes,
    agentDiscovery,
    agents = {},
  }: { readonly pipes: Pipes | null } & Partial<Pick<Configuration, 'agentDiscovery' | 'agents'>>,
  { isSet }: { isSet?(variable: string): boolean },
): readonly Finding[] {
  return [
    ...findAboutKey(pipes?.toolDiscovery, 'pipes.tool_discovery', 'proxy', isSet),
    ...findAboutKey(agentDiscovery, 'agents.default.tool_discovery', 'executor', isSet),
    ...Object.entries(agents).flatMap(([name, own]) =>
      findAboutKey(own.agentDiscovery ?? undefined, `agents.${name}.tool_discovery`, 'executor', isSet),
    ),
  ];
}

function findAboutKey(
  settings: DiscoverySettings | undefined,
  at: string,
  who: string,
  isSet: (variable: string) => boolean = () => true,
): readonly Finding[] {
  const name = settings?.api.apiKeyEnv ?? null;
  if (name === null || isSet(name)) return [];
  const message = `The variable ${name} is not set here: where it is not set either, the ${who} does not start.`;
  return [{ kind: 'unset_variable', path: `${at}.api.api_key`, message }];
}
