import type { Pipes } from '@sluice/core';

/** Why discovery leaves a request as it is, or its tools. */
export const bypassReasons = [
  /** Neither pipe is enabled. */
  'disabled',
  /** Outputs of tools go to their own pipe, which is enabled. */
  'tool_output',
  /** The request has no tools. */
  'no_tools',
  /** The strategy is `passthrough`, or one that there is not. */
  'passthrough',
  /** No more tools than are kept anyway. */
  'few_tools',
  'all_kept',
  /** The wire format is one in which tools are not changed. */
  'unsupported_wire',
  /** The client has its provider’s search among its tools, so it chooses itself what is shown. */
  'own_search',
  /** A tool of the client has the search tool’s name. */
  'name_clash',
  /** The body is no JSON or not of its API, or where tools should be is something else. */
  'unreadable',
  /** The body’s content coding is not one that is read, or its bytes are none of it. */
  'unknown_encoding',
  'bad_encoding',
  /** The body is longer than is read. */
  'too_large',
  /** The strategy failed, or the changed request could not be written. */
  'failed',
] as const;
export type BypassReason = (typeof bypassReasons)[number];

/** Those of a request that was not read at all. */
export type UnreadBypass = Extract<BypassReason, 'unreadable' | 'unknown_encoding' | 'bad_encoding' | 'too_large'>;

/** What is known of a request before a pipe is chosen. */
export interface Routed {
  readonly hasToolOutputs: boolean;
  readonly toolCount: number;
}

/** The one pipe of a request; where that is none, or one that changes nothing, why. */
export type Route =
  | { readonly pipe: 'tool_discovery'; readonly bypass: null }
  | { readonly pipe: 'tool_output'; readonly bypass: 'tool_output' }
  | { readonly pipe: null; readonly bypass: 'disabled' | 'no_tools' };

/** Chooses a request’s pipe: outputs of tools come first, then tools; each only where its pipe is enabled. */
export function routeOf(pipes: Pipes | undefined, { hasToolOutputs, toolCount }: Routed): Route {
  if (pipes === undefined) return { pipe: null, bypass: 'disabled' };
  if (hasToolOutputs && pipes.toolOutput.enabled) return { pipe: 'tool_output', bypass: 'tool_output' };
  if (!pipes.toolDiscovery.enabled) return { pipe: null, bypass: 'disabled' };
  return toolCount > 0 ? { pipe: 'tool_discovery', bypass: null } : { pipe: null, bypass: 'no_tools' };
}
