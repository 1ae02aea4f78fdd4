import type { ModelProvider } from './model-providers.js';

/** What a model can read. Text every one reads. */
export const modelInputs = ['text', 'image', 'pdf'] as const;
export type ModelInput = (typeof modelInputs)[number];

export interface ModelSettings {
  readonly provider: ModelProvider;
  /** The provider's model id; `rules` has none. */
  readonly name: string | null;
  readonly baseUrl: string | null;
  /** The environment variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  /** Bedrock only. */
  readonly region: string | null;
  readonly maxOutputTokens: number;
  /** Absent where none is configured: then no cost is counted. */
  readonly price?: ModelPrice;
  /** Anthropic only: what of its API it is asked for before that is the default; absent for nothing. */
  readonly betas?: readonly string[];
  /**
   * What is sent as it stands; absent where the provider's own default holds. Which wire has which, the compiler
   * knows.
   */
  readonly temperature?: number;
  readonly topP?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** How much a model thinks, in the word of OpenAI's wires. */
  readonly reasoningEffort?: string;
  /** How many tokens it may think, for the wires of Anthropic, Bedrock and Gemini. */
  readonly thinkingTokens?: number;
  /** Headers beside Sluice's own; no secrets, since a configuration travels in the clear. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Azure only: the version of its API, in the address of each request. */
  readonly apiVersion?: string;
  /** What it reads; absent for what is known of its name (`inputsOf`). */
  readonly inputs?: readonly ModelInput[];
}

/** What a million tokens cost, in whatever currency the operator counts in. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  /** Of input that the provider had in its cache; absent for that of input. */
  readonly cachedInput?: number;
  /** Of input that the provider put into its cache; absent for that of input. */
  readonly cacheWrite?: number;
}
