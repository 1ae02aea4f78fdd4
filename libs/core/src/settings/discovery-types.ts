/** What is said of a strategy of tool discovery once; configuration, command line and docs follow it. */
interface StrategyEntry {
  /**
   * `none` changes nothing. `choose` picks among the tools before the model is asked. `search` leaves them out until
   * the model searches.
   */
  readonly kind: 'none' | 'choose' | 'search';
  /**
   * What answers the model’s searches: nothing, the search tool where the settings ask for it, always the search
   * tool, or a service.
   */
  readonly search: 'never' | 'optional' | 'always' | 'service';
  /** Whether `sluice discovery try` can show it, without a model and a service. */
  readonly triable: boolean;
}

/**
 * The strategies of tool discovery; the first is the default, and what an unknown one counts as. A strategy that
 * chooses has its scores in `libs/discovery/src/choose.ts`, where the compiler asks for them; the table of
 * docs/discovery.md is held to this list by a test.
 */
const strategyEntries = {
  passthrough: { kind: 'none', search: 'never', triable: false },
  relevance: { kind: 'choose', search: 'never', triable: true },
  'tool-search': { kind: 'search', search: 'always', triable: true },
  api: { kind: 'search', search: 'service', triable: false },
  ranked: { kind: 'choose', search: 'optional', triable: true },
  hybrid: { kind: 'choose', search: 'optional', triable: true },
} as const satisfies Record<string, StrategyEntry>;

type Entries = typeof strategyEntries;
export type DiscoveryStrategy = keyof Entries;
type StrategyOf<Part extends Partial<StrategyEntry>> = {
  [Name in DiscoveryStrategy]: Entries[Name] extends Part ? Name : never;
}[DiscoveryStrategy];
export type ChoosingStrategy = StrategyOf<{ kind: 'choose' }>;
export type TriableStrategy = StrategyOf<{ triable: true }>;

export const discoveryStrategies = Object.keys(strategyEntries) as readonly DiscoveryStrategy[];

/** What holds of a strategy. */
export function discoveryStrategy(name: DiscoveryStrategy): StrategyEntry {
  return strategyEntries[name];
}

/** Whether a strategy chooses among the tools before the model is asked. */
function isChoosing(name: DiscoveryStrategy): name is ChoosingStrategy {
  return discoveryStrategy(name).kind === 'choose';
}

/** Strategies that choose among the tools before the model is asked. */
export const choosingStrategies: readonly ChoosingStrategy[] = discoveryStrategies.filter(isChoosing);

/** Those that `sluice discovery try` shows. */
export const triableStrategies: readonly TriableStrategy[] = discoveryStrategies.filter(
  (name): name is TriableStrategy => discoveryStrategy(name).triable,
);

/** Where the service is that selects tools for the strategy `api`. */
export interface SelectorSettings {
  /** Null: every search fails open. */
  readonly endpoint: string | null;
  /** The environment variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  readonly timeoutMs: number;
}

export const embeddingProviders = ['openai-compatible', 'google', 'bedrock', 'local'] as const;
type EmbeddingProvider = (typeof embeddingProviders)[number];

/** The model that gives the vectors of the strategy `hybrid`. */
export interface EmbeddingSettings {
  readonly provider: EmbeddingProvider;
  /** The provider’s name for the model; null for a local one. */
  readonly name: string | null;
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly region: string | null;
  /** Where a local model is, relative to the working directory; null for others. */
  readonly folder: string | null;
  /** A request waits so long for vectors; without them words alone decide. */
  readonly timeoutMs: number;
}

/**
 * When a provider’s own search of tools stands in for the search tool: where its model is known to have one, or
 * wherever its wire format does.
 */
export const nativeSearchModes = ['never', 'auto', 'always'] as const;
/** How such a search takes a query: as words, or as a regular expression. */
export const nativeSearchKinds = ['bm25', 'regex'] as const;
export type NativeSearchKind = (typeof nativeSearchKinds)[number];

export interface NativeSearchSettings {
  readonly when: Exclude<(typeof nativeSearchModes)[number], 'never'>;
  readonly kind: NativeSearchKind;
}

/** How the tools of a request are chosen, with defaults filled in and the forced rules applied. */
export interface DiscoverySettings {
  readonly strategy: DiscoveryStrategy;
  readonly minTools: number;
  readonly maxTools: number;
  readonly targetRatio: number;
  readonly alwaysKeep: readonly string[];
  /** Whether the model gets the search tool: never with `relevance`, always with `tool-search` and `api`. */
  readonly enableSearchFallback: boolean;
  readonly searchToolName: string;
  readonly maxSearchResults: number;
  readonly api: SelectorSettings;
  /** Absent where there is none: `hybrid` then goes by words alone. */
  readonly embeddings?: EmbeddingSettings;
  /**
   * Whether tools that the tenant’s models called often of late come before those that only share words; absent for
   * false.
   */
  readonly recent?: boolean;
  /** Absent where the search tool is always Sluice’s own. */
  readonly nativeSearch?: NativeSearchSettings;
}

/** `agents.default.tool_discovery`: discovery for the agent’s model. */
export interface AgentDiscovery extends DiscoverySettings {
  /** A strategy that is run beside the one in force, which alone decides what is shown; absent for none. */
  readonly shadow?: ChoosingStrategy;
}

/** `pipes.tool_discovery`: discovery in front of a model API. */
export interface DiscoveryPipe extends DiscoverySettings {
  readonly enabled: boolean;
  /** A strategy that is run beside the one in force, which alone changes requests; null for none. */
  readonly shadow: ChoosingStrategy | null;
}

export interface Pipes {
  readonly toolDiscovery: DiscoveryPipe;
  /** Takes part in the choice of a pipe alone. */
  readonly toolOutput: { readonly enabled: boolean };
}
