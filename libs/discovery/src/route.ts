import type { Pipes } from '@sluice/core';

/** Why the body of a request to a model is not read. */
const unreadReasons = [
  /** No JSON, or not of the API whose path it was sent to. */
  'unreadable',
  /** A content coding that is not one of those that are read, or more of them than that. */
  'unknown_encoding',
  /** Its content coding is known, its bytes are none of it. */
  'bad_encoding',
  /** Longer than is read, as it came or without its content coding. */
  'too_large',
] as const;
export type UnreadReason = (typeof unreadReasons)[number];

/** Why discovery leaves a request as it is, or its tools. */
export type BypassReason =
  /** Neither pipe is enabled. */
  | 'disabled'
  /** Outputs of tools go to their own pipe, which is enabled. */
  | 'tool_output'
  /** The request has no tools. */
  | 'no_tools'
  /** The strategy is `passthrough`, or one that there is not. */
  | 'passthrough'
  /** No more tools than are kept anyway. */
  | 'few_tools'
  | 'all_kept'
  /** The wire format is one in which tools are not changed. */
  | 'unsupported_wire'
  /** The client has its provider’s search among its tools, so it chooses itself what is shown. */
  | 'own_search'
  /** A tool of the client has the search tool’s name. */
  | 'name_clash'
  | UnreadReason
  /** The strategy failed, or the changed request could not be written. */
  | 'failed';

export function isUnread(bypass: BypassReason | null): boolean {
  return unreadReasons.some((reason) => reason === bypass);
}

/** What is known of a request before a pipe is chosen. */
interface Routed {
  readonly hasToolOutputs: boolean;
  readonly toolCount: number;
}

/** The one pipe of a request; where that is none, or one that changes nothing, why. */
type Route =
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
