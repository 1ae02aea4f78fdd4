/** Settings of a model that not every provider’s wire has a word for. */
export type ProviderSetting =
  | 'temperature'
  | 'top_p'
  | 'stop'
  | 'seed'
  | 'reasoning_effort'
  | 'thinking_tokens'
  | 'headers'
  | 'api_version'
  | 'betas'
  | 'region';

interface ProviderEntry {
  /** The wire of its API, which libs/wires has a codec for; null for the built-in rules, which speak none. */
  readonly wire: string | null;
  /** gen_ai.provider.name: OpenTelemetry’s name where it has one. */
  readonly telemetryName: string;
  /** The variable with its key where `api_key_env` names none; null where there is no default. */
  readonly keyVariable: string | null;
  /** Its address where `base_url` is left out; `required` where that must be written, `region` where it follows. */
  readonly address: string | null;
  readonly settings: readonly ProviderSetting[];
  /** The least of `thinking_tokens`, which are then part of the answer’s tokens; absent where any number will do. */
  readonly leastThinking?: number;
  /** Whether it has an endpoint that counts the tokens of definitions, which its wire’s codec then writes to. */
  readonly countsTokens: boolean;
}

const common = ['temperature', 'top_p', 'headers'] as const;
const anthropicThinking = { leastThinking: 1_024 } as const;

/** The providers of models: what the configuration lets one have, what metrics call it, and the wire that it speaks. */
export const modelProviderEntries = {
  rules: {
    wire: null,
    telemetryName: 'rules',
    keyVariable: null,
    address: null,
    countsTokens: false,
    settings: [],
  },
  'openai-compatible': {
    wire: 'openai-chat',
    telemetryName: 'openai',
    keyVariable: null,
    address: 'required',
    countsTokens: false,
    settings: [...common, 'stop', 'seed', 'reasoning_effort', 'api_version'],
  },
  'openai-responses': {
    wire: 'openai-responses',
    telemetryName: 'openai',
    keyVariable: 'OPENAI_API_KEY',
    countsTokens: false,
    address: 'https://api.openai.com/v1',
    settings: [...common, 'reasoning_effort', 'api_version'],
  },
  anthropic: {
    wire: 'anthropic',
    telemetryName: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    countsTokens: true,
    address: 'https://api.anthropic.com/v1',
    settings: [...common, 'stop', 'thinking_tokens', 'betas'],
    ...anthropicThinking,
  },
  google: {
    wire: 'gemini',
    telemetryName: 'gcp.gemini',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    countsTokens: true,
    address: 'https://generativelanguage.googleapis.com/v1beta',
    settings: [...common, 'stop', 'seed', 'thinking_tokens'],
  },
  bedrock: {
    wire: 'bedrock',
    telemetryName: 'aws.bedrock',
    keyVariable: null,
    address: 'region',
    countsTokens: false,
    settings: [...common, 'stop', 'thinking_tokens', 'region'],
    ...anthropicThinking,
  },
  'bedrock-anthropic': {
    wire: 'bedrock-anthropic',
    telemetryName: 'aws.bedrock',
    keyVariable: null,
    address: 'region',
    settings: [...common, 'stop', 'thinking_tokens', 'region'],
    countsTokens: false,
    ...anthropicThinking,
  },
} as const satisfies Readonly<Record<string, ProviderEntry>>;

export type ModelProvider = keyof typeof modelProviderEntries;
export const modelProviders = Object.keys(modelProviderEntries) as readonly ModelProvider[];

/** The wires: what model providers, and servers that imitate them, speak. */
export type WireName = NonNullable<(typeof modelProviderEntries)[ModelProvider]['wire']>;

/** The providers with an endpoint that counts tokens. */
export type CountingProvider = {
  [P in ModelProvider]: (typeof modelProviderEntries)[P]['countsTokens'] extends true ? P : never;
}[ModelProvider];

export function modelProviderEntry(provider: ModelProvider): ProviderEntry & { readonly wire: WireName | null } {
  return modelProviderEntries[provider];
}
