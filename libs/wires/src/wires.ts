import type { JsonObject } from '@sluice/core';
import type {
  Address,
  EncodeOptions,
  PastAnswerForm,
  RoundScreening,
  StreamEncoder,
  TokenCount,
  TurnHead,
} from './codec.js';
import { codecs } from './codecs/all.js';
import type { NativeSearch, NativeSearchWish, NoNativeSearch } from './native-search.js';
import type { Body } from './json/body.js';
import { createEventSplitter, type EventSplitter } from './screen/events.js';
import type { StreamFailure } from './screen/failure.js';
import { createStreamDecoder, type StreamDecoder, type TurnListener } from './stream/decoder.js';
import type { DecodedRequest, DecodedTurn, Encoded, Turn, WireName, WireRequest, WireTool } from './types.js';

export const wireNames = Object.keys(codecs) as readonly WireName[];

/** The content-type of a wire’s streamed answers. */
export function streamContentType(wire: WireName): string {
  return codecs[wire].contentType;
}

/** Whose the parts of a wire’s turns are, and what must come back with them: Anthropic’s on either of its wires. */
export function wireOfParts(wire: WireName): WireName {
  return codecs[wire].partsOf;
}

/** A request’s body for a provider. */
export function encodeRequest(wire: WireName, request: WireRequest, options?: EncodeOptions): Encoded {
  return codecs[wire].encodeRequest(request, options);
}

/** A tool’s definition as the provider is sent it. */
export function encodeTool(wire: WireName, tool: WireTool): string {
  return codecs[wire].encodeTool(tool);
}

/** A client’s request. On wires whose bodies do not say the model, its address does. Throws RequestFault. */
export function decodeRequest(wire: WireName, body: Body, address?: Address): DecodedRequest {
  return codecs[wire].decodeRequest(body, address);
}

/** A turn that came whole. Throws WireFault. */
export function decodeTurn(wire: WireName, body: string): DecodedTurn {
  return codecs[wire].decodeTurn(body);
}

/** A turn for a client, whole. */
export function encodeTurn(wire: WireName, turn: Turn, createdAtMs: number, beside?: JsonObject): Encoded {
  return codecs[wire].encodeTurn(turn, createdAtMs, beside);
}

/** Reads one streamed turn of so many bytes at most; each stream has a decoder of its own. */
export function decodeStream(wire: WireName, listener?: TurnListener, largest?: number): StreamDecoder {
  return createStreamDecoder(codecs[wire], listener, largest);
}

/** Writes one turn for a client as a stream. */
export function encodeStream(wire: WireName, head: TurnHead): StreamEncoder {
  return codecs[wire].streamEncoder(head);
}

/** Cuts the bytes of a streamed answer into events. */
export function createSplitter(wire: WireName): EventSplitter {
  return createEventSplitter(codecs[wire].framing);
}

/** The event by which a wire says that a stream ends in an error. */
export function errorFrame(wire: WireName, failure: StreamFailure): Uint8Array {
  return codecs[wire].errorFrame(failure);
}

/** How rounds of a search are shown as one answer; null where a wire’s requests pass unchanged. */
export function roundScreening(wire: WireName): RoundScreening | null {
  return codecs[wire].rounds;
}

/** Where the thoughts of past answers stand; null where none is bound. */
export function pastThoughts(wire: WireName): PastAnswerForm['thoughts'] | null {
  return codecs[wire].pastAnswers?.thoughts ?? null;
}

/** Whether a wire’s provider keeps answers that a request can go on from by their id. */
export function keepsAnswers(wire: WireName): boolean {
  return codecs[wire].keepsAnswers;
}

/** The search of a wire’s provider for a model. */
export function nativeSearchOf(wire: WireName, model: string, wish: NativeSearchWish): NativeSearch | NoNativeSearch {
  return codecs[wire].nativeSearch(model, wish);
}

/** How a wire’s API counts tokens; null where it does not. */
export function tokenCountOf(wire: WireName): TokenCount | null {
  return codecs[wire].countTokens;
}

/**
 * A request of one wire as one of another, with all that is lost on the way: paths in the request, and what the other
 * wire cannot say.
 */
export function translateRequest(from: WireName, to: WireName, body: string, address?: Address): Encoded {
  const request = decodeRequest(from, body, address);
  const { body: translated, dropped } = encodeRequest(to, request);
  return { body: translated, dropped: [...request.beyond.map((path) => `\`${path}\``), ...dropped] };
}
