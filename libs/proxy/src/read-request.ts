import type { JsonValue } from '@sluice/core';
import {
  decodeRequest,
  type DecodedRequest,
  hasNativeSearch,
  JsonSpan,
  RequestFault,
  toolTexts,
  type WireName,
  type WireTool,
} from '@sluice/wires';
import { firstSaid, questionIn, usedTools } from './conversation.js';
import type { Endpoint } from './endpoint.js';

/** A request to a model as discovery sees it. */
export interface ModelRequest {
  readonly decoded: DecodedRequest;
  readonly tools: readonly RequestTool[];
  /** Names of tools whose outputs stand in the history. */
  readonly recentlyUsed: ReadonlySet<string>;
  readonly hasToolOutputs: boolean;
  /** Names of the tools that were called or whose outputs stand in the history. */
  readonly used: ReadonlySet<string>;
  /** What the person asked last, without what the client put in. */
  readonly question: string;
  /** What the person said first: by it the conversation is known again; null where there is no such thing. */
  readonly firstSaid: JsonValue;
  /** The list of tools as it stands; null where there is none. */
  readonly toolList: string | null;
  /** Tools that the model is made to call. */
  readonly forced: readonly string[];
  /** The answer that the provider keeps and that this request goes on from; null for none. */
  readonly previousAnswer: string | null;
  /** Whether the provider keeps the answer, as far as the request says. */
  readonly isKept: boolean;
  /** Whether its provider’s own search is among its tools. */
  readonly hasNativeSearch: boolean;
  /** Why its answer cannot be several rounds of the model; null where it can. */
  readonly oneRound: 'many_choices' | 'kept_by_provider' | 'tool_choice' | null;
}

export interface RequestTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly raw: string;
}

/** Reads a request; null where it is not of its wire. */
export function readRequest(endpoint: Endpoint, body: string): ModelRequest | null {
  const { wire } = endpoint;
  const address = { model: endpoint.model?.name ?? '', stream: endpoint.stream === true };
  let decoded: DecodedRequest;
  try {
    decoded = decodeRequest(wire, body, address);
  } catch (error) {
    if (error instanceof RequestFault) return null;
    throw error;
  }
  const tools = toolsWith(decoded.tools, toolTexts(wire, body));
  if (tools === null) return null;
  const results = decoded.messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'result'));
  const root = JsonSpan.of(body);
  return {
    decoded,
    tools,
    recentlyUsed: new Set(results.flatMap(({ name }) => name ?? [])),
    hasToolOutputs: results.length > 0,
    used: usedTools(decoded.messages),
    question: questionIn(decoded.messages, decoded.query),
    firstSaid: firstSaid(decoded.messages),
    toolList: root.member('tools')?.source ?? null,
    forced: decoded.toolChoice?.type === 'tool' ? [decoded.toolChoice.id] : [],
    hasNativeSearch: hasNativeSearch(root),
    previousAnswer: previousAnswer(wire, root),
    isKept: root.member('store')?.source !== 'false',
    oneRound: oneRound(decoded, root),
  };
}

/** Tools of lists that clients repeat are read once, and are then the same objects. */
const known = new WeakMap<readonly WireTool[], readonly RequestTool[]>();

/** Null where tools and texts do not belong together. */
function toolsWith(
  tools: readonly WireTool[],
  texts: readonly { readonly raw: string }[],
): readonly RequestTool[] | null {
  if (texts.length !== tools.length) return null;
  const before = known.get(tools);
  if (before !== undefined) return before;
  const made = tools.map(({ name, description, inputSchema }, at) => ({
    ...{ name, description, parameters: inputSchema },
    raw: texts[at]?.raw ?? '',
  }));
  known.set(tools, made);
  return made;
}

function oneRound(decoded: DecodedRequest, root: JsonSpan): ModelRequest['oneRound'] {
  const choices = root.member('n');
  if (choices !== undefined && !choices.isNull && choices.source !== '1') return 'many_choices';
  if (root.member('background')?.source === 'true') return 'kept_by_provider';
  const conversation = root.member('conversation');
  if (conversation !== undefined && !conversation.isNull) return 'kept_by_provider';
  return decoded.beyond.includes('tool_choice') ? 'tool_choice' : null;
}

function previousAnswer(wire: WireName, root: JsonSpan): string | null {
  return wire === 'openai-responses' ? (root.member('previous_response_id')?.string ?? null) : null;
}

/** A request that goes on from another answer that its provider keeps. */
export function withPreviousAnswer(body: string, id: string): string {
  const span = JsonSpan.of(body).member('previous_response_id');
  return span === undefined ? body : `${body.slice(0, span.start)}${JSON.stringify(id)}${body.slice(span.end)}`;
}
