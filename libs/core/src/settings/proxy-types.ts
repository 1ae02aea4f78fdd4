/** What an upstream speaks, which says how its credential travels and what its errors look like. */
export const proxyApis = ['openai', 'anthropic', 'gemini', 'bedrock'] as const;
export type ProxyApi = (typeof proxyApis)[number];

/** A model API that the proxy forwards to. */
export interface UpstreamSettings {
  readonly id: string;
  readonly api: ProxyApi;
  /** Without a slash at its end. */
  readonly url: string;
  /** Names of models, `*` standing for any characters; empty for all. */
  readonly models: readonly string[];
  /** Beginnings of paths; empty for all of its API. */
  readonly paths: readonly string[];
  /** The variable that holds Sluice’s own key; null where the client’s credential goes on as it came. */
  readonly apiKeyEnv: string | null;
  /**
   * Bedrock: the region for which requests are signed with the process’s AWS_… variables; null where they are not
   * signed.
   */
  readonly region: string | null;
  /** How long it may take to begin an answer, and to send the next bytes of one. */
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** What a model’s name stands for, and what is asked if that fails. */
export interface ProxyModel {
  readonly name: string;
  /** Null where routing finds it. */
  readonly upstream: string | null;
  /** The upstream’s name for it; null for the same. */
  readonly model: string | null;
  /** Names of models, in the order in which they are tried. */
  readonly fallback: readonly string[];
}

/** Whether a request’s tools that the configuration does not know go on to the model, where the caller is known. */
export const unknownToolChoices = ['pass', 'hide'] as const;
export type UnknownTools = (typeof unknownToolChoices)[number];

export interface ProxySettings {
  readonly upstreams: readonly UpstreamSettings[];
  readonly models: readonly ProxyModel[];
  readonly unknownTools: UnknownTools;
}
