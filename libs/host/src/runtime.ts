import type { Clock, ContentStore, CountedDocuments, PastCalls, RateLimiter } from '@sluice/core';
import type { RunParts } from '@sluice/run';
import type { Credentials } from './credentials.js';
import type { Environment } from './environment.js';
import type { Health } from './health.js';
import type { LocalSecret } from './local-secret.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { Traces } from './traces/traces.js';

/** What became of tools that an operator would allow as they are now. */
export type Acceptance =
  | { readonly status: 'accepted' | 'in_force_already'; readonly version: string; readonly replaced: string }
  /** Why not, as a sentence. */
  | { readonly status: 'refused'; readonly why: string };

/** `pins`: what was shown of each tool, by the server’s name for it. Nothing is allowed if the server says else. */
export type AcceptChanges = (server: string, pins: ReadonlyMap<string, string>) => Promise<Acceptance>;

/** What a process gives its services: made once in the composition root. */
export interface Runtime extends RunParts {
  readonly environment: Environment;
  /** As for a run, and counted. */
  readonly documents: CountedDocuments;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly health: Health;
  /** On the ledger's database, so that a limit holds across instances. */
  readonly rates: RateLimiter;
  /** Calls of the past, where rules have a span; in the ledger’s database too. */
  readonly past: PastCalls;
  /** What no record has room for. */
  readonly content: ContentStore;
  /** Credentials on their way over the log. */
  readonly credentials: Credentials;
  /** What requests prove themselves by where no identity is configured. */
  readonly localSecret: LocalSecret;
  /**
   * Allows tools of an MCP server as it offers them now; absent where this process follows no configuration file.
   */
  readonly acceptChanges?: AcceptChanges;
  /** A service can no longer work: the process says why and ends with a code other than 0. */
  fail(error: Error): void;
}

/** The token under which Nest injects it. */
export const RUNTIME = Symbol('runtime');

/** The token under which Nest injects who verifies credentials. */
export const AUTHENTICATOR = Symbol('authenticator');

export const systemClock: Clock = { now: () => Date.now() };
