import type { Clock, Digest, Documents, Embedder, EmbeddingSettings } from '@sluice/core';
import type { TokenCounter } from '@sluice/tokens';
import type { DiscoveryReport, NativeSearchAt } from './report.js';
import type { DeferredTool } from './sessions.js';
import type { OfferedTool } from './tool.js';

/** A tool of a request: what discovery reads of it, and its definition as the client wrote it. */
export interface RequestTool extends OfferedTool {
  readonly raw: string;
}

/** A request to a model API, as far as discovery needs it. */
export interface DiscoveryRequest {
  readonly source: 'proxy' | 'agent';
  readonly requestId: string;
  /** Of the run; the proxy’s requests have their conversation’s hash. */
  readonly sessionId: string;
  /** Of the run, from 1; 0 at the proxy. */
  readonly iteration: number;
  readonly configVersion: string;
  readonly tenantId: string;
  readonly wire: string;
  readonly model: string;
  /** Those that the caller may use, in the request’s order. */
  readonly tools: readonly RequestTool[];
  /** Names of tools of former requests that the caller may not use now. */
  readonly isAllowed?: (name: string) => boolean;
  /** What the user asked last. */
  readonly query: string;
  /** Names of the tools whose outputs the request holds. */
  readonly recentlyUsed: ReadonlySet<string>;
  readonly hasToolOutputs: boolean;
  /**
   * Names of tools that the conversation has used: they stay, unless the provider’s own search has what it found in
   * the conversation.
   */
  readonly used?: ReadonlySet<string>;
  /** Names of tools that the model is made to call: they stay. */
  readonly forced?: readonly string[];
  /** Names of tools that are left to the provider's own search, where it stands in. */
  readonly deferred?: readonly string[];
  /** False where no search tool of Sluice's can be answered; absent: it can. */
  readonly takesSearchTool?: boolean;
  /** sessionKey of the request; null where nothing is remembered of it. */
  readonly session: string | null;
  /**
   * Whether the provider has a search of its own for this wire format and model, which may stand in for the search
   * tool; absent: no.
   */
  readonly nativeSearch?: NativeSearchAt;
  /** True where the client has that search among its tools already. */
  readonly hasOwnSearch?: boolean;
  /** True for a wire format whose tools discovery leaves as they are. */
  readonly unsupported?: boolean;
}

/** What discovery needs from the process that runs it. */
export interface DiscoveryParts {
  /** Where sessions and habits are kept. */
  readonly documents: Documents;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly counter: TokenCounter;
  /** The value of an environment variable. */
  secret(variable: string): string | undefined;
  /** The model that the settings name. Where it rejects, `hybrid` goes by words alone. */
  embedder(settings: EmbeddingSettings): Promise<Embedder>;
  report(report: DiscoveryReport): void;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
}

/** A search’s result. */
export interface SearchAnswer {
  /** Definitions that the model does not have yet, in order. */
  readonly added: readonly DeferredTool[];
  /** What the model reads as the result of its call. */
  readonly text: string;
}

/** How a request ended, as its proxy saw it. */
export interface DiscoveryOutcome {
  /** Rounds of searches that were answered. */
  readonly rounds: number;
  /** Names of the tools that the model called, other than the search tool. */
  readonly called: readonly string[];
}
