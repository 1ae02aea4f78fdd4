import type { DiscoveryStrategy } from '@sluice/core';
import type { MeaningsWay } from './hybrid.js';
import type { BypassReason } from './route.js';
import type { FailOpenReason } from './selector.js';

/** Where a provider’s own search of tools is. */
export type NativeSearchAt = 'provider' | 'unsupported_wire' | 'unsupported_model';

/**
 * How a search was answered; `provider` by the provider’s own search, `all` where the service of the strategy `api`
 * did not answer as it should, `too_long` where the query has more characters than are searched for.
 */
export const searchAnswers = ['regex', 'keywords', 'blank', 'ranked', 'api', 'provider', 'all', 'too_long'] as const;

/** One search of a model. */
export interface SearchReport {
  readonly query: string;
  /** Names of the tools that it got, in order. */
  readonly matched: readonly string[];
  readonly by: (typeof searchAnswers)[number];
  readonly failOpen: FailOpenReason | null;
}

/** What a strategy that ran beside would have shown. */
interface ShadowReport {
  readonly strategy: DiscoveryStrategy;
  readonly kept: readonly string[];
  /**
   * Of the tools that the model called, those that would not have been there; null until it is known what was called.
   */
  readonly missed: readonly string[];
}

/** What discovery did to one request: the signals of the document, and what they cost. */
export interface DiscoveryReport {
  readonly source: 'proxy' | 'agent';
  readonly requestId: string;
  /** The session of a run; of a request to the proxy, the hash of its conversation. */
  readonly sessionId: string;
  /** Of a run, from 1; 0 of a request to the proxy. */
  readonly iteration: number;
  readonly configVersion: string;
  readonly tenantId: string;
  /** The wire format of the request, and the model that it names. */
  readonly wire: string;
  readonly model: string;
  readonly pipe: 'tool_discovery' | 'tool_output' | null;
  readonly strategy: DiscoveryStrategy;
  /** Why the tools were left as they are; null where they were not. */
  readonly bypass: BypassReason | null;
  readonly totalTools: number;
  readonly keptTools: number;
  readonly deferredTools: number;
  /**
   * Whether the provider’s own search stood in for the search tool, as the settings wish; null where they do not, or
   * nothing was left out.
   */
  readonly nativeSearch: NativeSearchAt | null;
  /** What `hybrid` went by, also where it ran beside; null where it was not asked for. */
  readonly meanings: MeaningsWay | null;
  readonly searches: readonly SearchReport[];
  /** Rounds of searches that were answered before the client got its answer. */
  readonly rounds: number;
  /** Names of the tools that the model called, other than the search tool; each once. */
  readonly called: readonly string[];
  /** Of these, how many the first request to the model did not hold. */
  readonly calledDeferred: number;
  /** Tokens of all tools, and of those that the first request to the model held; null where they were not counted. */
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
  /** What counted them. */
  readonly tokenizer: string | null;
  /** Milliseconds from the request to the choice. */
  readonly chooseMs: number;
  readonly shadow: ShadowReport | null;
  readonly at: number;
}
