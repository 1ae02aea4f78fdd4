import type { JsonValue } from '@sluice/core';
import {
  applyEdits,
  type Body,
  decodeRequest,
  type DecodedRequest,
  hasNativeSearch,
  keepsAnswers,
  type JsonSpan,
  readBody,
  RequestFault,
  toolTexts,
  type WireName,
  type WireTool,
} from '@sluice/wires';
import { firstSaid, questionIn, usedTools } from './conversation.js';
import type { Endpoint } from './endpoint.js';

/** A request to a model as discovery sees it. */
export interface ModelRequest {
  /** The body as it was read, to be looked at again and edited. */
  readonly body: JsonSpan;
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
  /** Tools that the model is made to call, or alone may call: they stay. */
  readonly forced: readonly string[];
  /**
   * Whether the model may call no others: `allowed_tools` names the forced ones, and a search tool could not be
   * called.
   */
  readonly isLimited: boolean;
  /** The answer that the provider keeps and that this request goes on from; null for none. */
  readonly previousAnswer: string | null;
  /** Whether the provider keeps the answer, as far as the request says. */
  readonly isKept: boolean;
  /** Whether its provider’s own search is among its tools. */
  readonly hasNativeSearch: boolean;
  /** Why its answer cannot be several rounds of the model; null where it can. */
  readonly oneRound: 'many_choices' | 'kept_by_provider' | 'tool_choice' | null;
}

interface RequestTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
  readonly raw: string;
}

/** Reads a request; null where it is not of its wire. */
export function readRequest(endpoint: Endpoint, text: Body): ModelRequest | null {
  const { wire } = endpoint;
  const address = { model: endpoint.model?.name ?? '', stream: endpoint.stream === true };
  let root: JsonSpan;
  try {
    root = readBody(text);
  } catch {
    return null;
  }
  let decoded: DecodedRequest;
  try {
    decoded = decodeRequest(wire, root, address);
  } catch (error) {
    if (error instanceof RequestFault) return null;
    throw error;
  }
  const tools = toolsWith(decoded.tools, toolTexts(wire, root));
  if (tools === null) return null;
  const results = decoded.messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'result'));
  const limited = allowedTools(root.member('tool_choice'), tools);
  return {
    body: root,
    decoded,
    tools,
    recentlyUsed: new Set(results.flatMap(({ name }) => name ?? [])),
    hasToolOutputs: results.length > 0,
    used: usedTools(decoded.messages),
    question: questionIn(decoded.messages, decoded.query),
    firstSaid: firstSaid(decoded.messages),
    toolList: root.member('tools')?.source ?? null,
    forced: decoded.toolChoice?.type === 'tool' ? [decoded.toolChoice.id] : limited,
    isLimited: limited.length > 0,
    hasNativeSearch: hasNativeSearch(root),
    previousAnswer: previousAnswer(wire, root),
    isKept: root.member('store')?.source !== 'false',
    oneRound: oneRound(decoded, root, limited.length > 0),
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

/**
 * The functions of the request that its `allowed_tools` names, as chat completions or Responses write it; none where
 * it has no such choice.
 */
function allowedTools(choice: JsonSpan | undefined, tools: readonly RequestTool[]): readonly string[] {
  if (choice?.member('type')?.string !== 'allowed_tools') return [];
  const list = choice.member('allowed_tools')?.member('tools') ?? choice.member('tools');
  const named = (list?.items ?? []).map((item) => (item.member('function') ?? item).member('name')?.string);
  const own = new Set(tools.map(({ name }) => name));
  return named.filter((name): name is string => name !== undefined && own.has(name));
}

function oneRound(decoded: DecodedRequest, root: JsonSpan, isLimited: boolean): ModelRequest['oneRound'] {
  const choices = root.member('n');
  if (choices !== undefined && !choices.isNull && choices.source !== '1') return 'many_choices';
  if (root.member('background')?.source === 'true') return 'kept_by_provider';
  const conversation = root.member('conversation');
  if (conversation !== undefined && !conversation.isNull) return 'kept_by_provider';
  return decoded.beyond.includes('tool_choice') && !isLimited ? 'tool_choice' : null;
}

function previousAnswer(wire: WireName, root: JsonSpan): string | null {
  return keepsAnswers(wire) ? (root.member('previous_response_id')?.string ?? null) : null;
}

/** A request that goes on from another answer that its provider keeps. */
export function withPreviousAnswer(body: Body, id: string): string {
  const root = readBody(body);
  const span = root.member('previous_response_id');
  const edits =
    span === undefined ? [] : [{ of: span.text, start: span.start, end: span.end, text: JSON.stringify(id) }];
  return applyEdits(root, edits);
}
