import type { JsonObject, Redaction, ToolEffect, ToolInvocationContext, ToolNetwork } from '@sluice/core';

/**
 * What a tool file’s process is sent: JSON, a line each. `n` numbers its tasks, so that what belongs to a former one
 * is known.
 */
export type ToChild =
  /** `all`: to note what is slow to load as well, as calls of the file use it. */
  | { readonly do: 'load'; readonly n: number; readonly path: string; readonly source: string; readonly all: boolean }
  | { readonly do: 'parse'; readonly n: number; readonly args: string }
  | ({ readonly do: 'execute'; readonly n: number } & SentCall)
  | ({ readonly do: 'reconcile'; readonly n: number } & SentCall)
  | { readonly do: 'abort'; readonly n: number; readonly reason: string }
  | ({ readonly do: 'answer'; readonly n: number; readonly ask: number } & Answer);

export interface SentCall {
  /** JSON text of the arguments, as the tool’s schema gave them. */
  readonly args: string;
  readonly context: ToolInvocationContext;
  /** The service’s clock, milliseconds since the epoch. */
  readonly now: number;
  /** The call’s key, where the tool declares `idempotency` or is asked whether it took effect. */
  readonly key: string | null;
}

/** What a tool file’s process says. */
export type FromChild =
  | { readonly say: 'loaded'; readonly n: number; readonly tool: ToolDescription }
  | { readonly say: 'parsed'; readonly n: number; readonly args: string }
  | { readonly say: 'refused'; readonly n: number; readonly problems: readonly SentProblem[] }
  | { readonly say: 'ended'; readonly n: number; readonly output: SentOutput }
  | { readonly say: 'threw'; readonly n: number; readonly error: SentError }
  /**
   * The task is not begun, and no other is: an earlier one changed what all code of the process shares. `changed` names
   * it; null where that may be so, as the earlier one loaded what had not been noted.
   */
  | { readonly say: 'stale'; readonly n: number; readonly changed: string | null }
  | ({ readonly say: 'ask'; readonly n: number; readonly ask: number } & CapabilityCall)
  | { readonly say: 'stop'; readonly n: number; readonly ask: number }
  | { readonly say: 'progress'; readonly n: number; readonly text: string };

/** A capability’s method that the tool calls. */
export interface CapabilityCall {
  readonly capability: string;
  readonly method: string;
  /** An argument that is undefined has no `value`. */
  readonly args: readonly { readonly value?: unknown }[];
  /** Where among the arguments an AbortSignal stood; null if none did. */
  readonly signalAt: number | null;
}

export type Answer =
  { readonly ok: true; readonly value?: unknown } | { readonly ok: false; readonly error: SentError };

interface SentProblem {
  readonly path: string;
  readonly message: string;
}

/** What the tool returned, of its declared shape, or why there is nothing to be had of it. */
export type SentOutput =
  | { readonly kind: 'value'; readonly value?: unknown }
  /** `why` is for the operator. */
  | { readonly kind: 'misshapen'; readonly why?: string }
  | { readonly kind: 'too large' };

export interface SentError {
  /** The class, where the pipeline knows it; else 'Error'. */
  readonly kind: string;
  readonly message: string;
  /** For the operator, where the class is 'Error': what caused it, and where. */
  readonly fault?: string;
}

/** A tool type as its file defines it. */
export interface ToolDescription {
  readonly type: string;
  readonly description: string;
  readonly shortDescription: string;
  readonly category: string;
  readonly inputSchema: JsonObject;
  readonly effect: ToolEffect;
  readonly redaction: Redaction;
  readonly repeatable: boolean;
  readonly requiresConnection: boolean;
  readonly capabilities: readonly string[];
  readonly network: 'none' | ToolNetwork;
  /** What the file uses of Node for a network, for its author. */
  readonly networkUses: readonly string[];
  /** What the file uses that no tool has, by the text of the file: the same. */
  readonly closedUses: readonly string[];
  readonly reconciles: boolean;
}

/** Bytes of a line either way: the largest output of a tool, or the body of a response, in base64. */
export const lineBytes = 33_554_432;

/** Bytes of the body of a request or response that goes through `connections`. */
export const bodyBytes = 16_777_216;

export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly redirect: 'error' | 'follow' | 'manual';
  /** Base64. */
  readonly body: string | null;
}

export interface SentResponse {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly redirected: boolean;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64. */
  readonly body: string | null;
}
