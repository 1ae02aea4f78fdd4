import type { Address, Codec, EncodeOptions, StreamEncoder, TurnHead } from './codec.js';
import { anthropic, bedrockAnthropic } from './codecs/anthropic.js';
import { bedrock } from './codecs/bedrock.js';
import { gemini } from './codecs/gemini.js';
import { openaiChat } from './codecs/openai-chat.js';
import { openaiResponses } from './codecs/openai-responses.js';
import { addMember, applyEdits, type Edit, editItems, removeMembers } from './json/edit.js';
import { JsonSpan } from './json/span.js';
import { createStreamDecoder, type StreamDecoder, type TurnListener } from './stream/decoder.js';
import type { DecodedRequest, DecodedTurn, Encoded, Message, Turn, WireName, WireRequest, WireTool } from './types.js';

const codecs: Readonly<Record<WireName, Codec>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
  bedrock,
  'bedrock-anthropic': bedrockAnthropic,
};

/** The content-type of a wire’s streamed answers. */
export function streamContentType(wire: WireName): string {
  return codecs[wire].contentType;
}

/** A request’s body for a provider. */
export function encodeRequest(wire: WireName, request: WireRequest, options?: EncodeOptions): Encoded {
  return codecs[wire].encodeRequest(request, options);
}

/** A client’s request. On wires whose bodies do not say the model, its address does. Throws RequestFault. */
export function decodeRequest(wire: WireName, body: string, address?: Address): DecodedRequest {
  return codecs[wire].decodeRequest(body, address);
}

/** What of a request is changed; everything else keeps its bytes. */
export interface RequestEdit {
  /** Which of the client’s own tools stay; those of the provider do in any case. Absent: all. */
  readonly keepTool?: (name: string) => boolean;
  /** Tools that are put behind them. */
  readonly addTools?: readonly WireTool[];
  /** Messages that are put behind the others. */
  readonly addMessages?: readonly Message[];
}

/** A client’s request with tools taken out or put in and messages put behind. Not one other character changes. */
export function editRequest(wire: WireName, body: string, edit: RequestEdit): string {
  const codec = codecs[wire];
  const root = JsonSpan.of(body);
  return applyEdits(body, [...toolEdits(codec, root, edit), ...messageEdits(codec, root, edit)]);
}

function toolEdits(codec: Codec, root: JsonSpan, { keepTool = () => true, addTools = [] }: RequestEdit): Edit[] {
  const places = codec.toolPlaces(root);
  const added = addTools.map((tool) => codec.encodeTool(tool));
  if (places.lists.length === 0)
    return added.length === 0 ? [] : [addMember(places.holder, places.name, places.wrap(added))];
  const isKept = (name: string | null | undefined): boolean => name === null || name === undefined || keepTool(name);
  const isAny =
    added.length > 0 || places.lists.some(({ names }) => names.some(isKept)) || hasOthers(root, places.lists.length);
  const isSame = added.length === 0 && places.lists.every(({ names }) => names.every(isKept));
  if (isSame) return [];
  if (!isAny) return places.whenEmpty.flatMap(({ holder, names }) => removeMembers(holder, names));
  return places.lists.flatMap(({ span, names }, index) =>
    editItems(span, (at) => isKept(names[at]), index === places.lists.length - 1 ? added : []),
  );
}

/** Gemini’s list of tools may hold some of Google’s own beside the lists of functions. */
function hasOthers(root: JsonSpan, lists: number): boolean {
  const tools = root.member('tools');
  return tools !== undefined && tools.items.some((tool) => tool.member('functionDeclarations') !== undefined)
    ? tools.items.length > lists
    : false;
}

function messageEdits(codec: Codec, root: JsonSpan, { addMessages = [] }: RequestEdit): Edit[] {
  const items = codec.encodeMessages(addMessages);
  if (items.length === 0) return [];
  const list = root.member(codec.messagesName);
  if (list === undefined) return [addMember(root, codec.messagesName, `[${items.join(',')}]`)];
  if (list.isString) {
    // Responses takes a text for the only message.
    const said = `{"type":"message","role":"user","content":${list.source}}`;
    return [{ start: list.start, end: list.end, text: `[${[said, ...items].join(',')}]` }];
  }
  return editItems(list, () => true, items);
}

/** A turn that came whole. Throws WireFault. */
export function decodeTurn(wire: WireName, body: string): DecodedTurn {
  return codecs[wire].decodeTurn(body);
}

/** A turn for a client, whole. */
export function encodeTurn(wire: WireName, turn: Turn, createdAtMs: number): Encoded {
  return codecs[wire].encodeTurn(turn, createdAtMs);
}

/** Reads one streamed turn; each stream has a decoder of its own. */
export function decodeStream(wire: WireName, listener?: TurnListener): StreamDecoder {
  return createStreamDecoder(codecs[wire], listener);
}

/** Writes one turn for a client as a stream. */
export function encodeStream(wire: WireName, head: TurnHead): StreamEncoder {
  return codecs[wire].streamEncoder(head);
}

/** A request of one wire as one of another, with all that is lost on the way: paths in the request, and what the other wire cannot say. */
export function translateRequest(from: WireName, to: WireName, body: string, address?: Address): Encoded {
  const request = decodeRequest(from, body, address);
  const { body: translated, dropped } = encodeRequest(to, request);
  return { body: translated, dropped: [...request.beyond.map((path) => `\`${path}\``), ...dropped] };
}
