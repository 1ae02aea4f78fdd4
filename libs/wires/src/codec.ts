import type { JsonObject } from '@sluice/core';
import type { Body } from './json/body.js';
import type { JsonSpan } from './json/span.js';
import type { NativeSearch, NativeSearchWish, NoNativeSearch } from './native-search.js';
import type { StreamFailure } from './screen/failure.js';
import type { RoundEnd, Screen, Screening } from './screen/screen.js';
import type { StreamWire } from './stream/decoder.js';
import type {
  DecodedRequest,
  Encoded,
  Finish,
  Message,
  Turn,
  TurnPart,
  Usage,
  WireName,
  WireRequest,
  WireTool,
} from './types.js';

/** What the address of a request says on wires whose bodies do not: the model, and whether the answer is streamed. */
export interface Address {
  readonly model: string;
  readonly stream: boolean;
}

/** What a client’s turn begins with. */
export interface TurnHead {
  readonly id: string;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /**
   * Members of the answer beside the turn’s own: what it repeats of its request. Where it is given, the answer has
   * each member that the API’s schema asks for; absent, it stands for a provider’s answer, to which nothing is added
   * that the client would send back.
   */
  readonly beside?: JsonObject;
}

/**
 * Writes one turn as a stream: a head, pieces in order (texts may come in as many as one likes, a call comes whole),
 * an end.
 */
export interface StreamEncoder {
  start(): Uint8Array;
  part(part: TurnPart): Uint8Array;
  /** `beside`: members of the answer that are known now, beside those of the head. */
  end(finish: Finish, usage: Usage, beside?: JsonObject): Uint8Array;
}

/** What of a request’s encoding depends on who reads it. */
export interface EncodeOptions {
  /** Chat Completions: OpenAI’s own models want the newer name, the servers that imitate it know the older one. */
  readonly chatLimit?: 'max_tokens' | 'max_completion_tokens';
  /** Anthropic and Bedrock: marks tools and instructions for the provider’s cache. */
  readonly cachePrefix?: boolean;
  /** Anthropic and Bedrock: marks the end of the history too, which the next turn of the run begins with. */
  readonly cacheHistory?: boolean;
  /** Chat Completions and Gemini. */
  readonly seed?: number;
  /** Chat Completions and Responses: how much the model thinks, in the provider's word. */
  readonly reasoningEffort?: string;
  /** A JSON Schema that the answer has to fit, as the provider’s own structured output where it takes this one. */
  readonly answerSchema?: JsonObject;
  /** Anthropic, Bedrock and Gemini: how many tokens the model may think. */
  readonly thinkingTokens?: number;
  /** Bedrock: whether the model takes the mark of a result that is an error; only some do. Absent: it does. */
  readonly resultStatus?: boolean;
}

/** Where the tools of a request stand: the lists that hold them, and which item is which. */
export interface ToolLocations {
  /** Lists of tools in the text, with the name of each item, null for what is no function of the caller’s. */
  readonly lists: readonly { readonly span: JsonSpan; readonly names: readonly (string | null)[] }[];
  /** Members that go when no tool is left, each with the object that holds it. */
  readonly whenEmpty: readonly { readonly holder: JsonSpan; readonly names: readonly string[] }[];
  /** Where a list of tools is put if there is none, with `wrap` around the tools’ texts. */
  readonly holder: JsonSpan;
  readonly name: string;
  wrap(tools: readonly string[]): string;
}

/** How answers of the model come back in a request’s history, where some of their parts are bound to others. */
export interface PastAnswerForm {
  /** What a request has to hold for any answer in it to be bound to others; looking for it costs next to nothing. */
  readonly sign: RegExp;
  /**
   * Where an answer’s thoughts stand: as blocks of a message, as items of their own, or as details of a message,
   * which clients may leave out.
   */
  readonly thoughts: 'blocks' | 'items' | 'details';
}

/** How the rounds in which a model searched for tools are shown to a client as one answer without the search. */
export interface RoundScreening {
  /** A screen for one streamed answer. */
  screen(screening: Screening): Screen;
  /** The answers of all rounds, which came whole, as one. */
  mergeAnswers(bodies: readonly string[], screening: Screening, end: RoundEnd): string;
  /** Whether an answer repeats the request’s tools, so that even one without a search is changed. */
  readonly repeatsTools: boolean;
}

/** What an API’s endpoint that counts tokens is asked. */
export interface TokenCount {
  /** What follows the API’s address. */
  path(model: string): string;
  /** A request with these tools and next to nothing else. */
  body(model: string, tools: readonly WireTool[]): string;
  /** The member of the answer with the tokens. */
  readonly member: string;
}

/**
 * One wire, both directions, as pure functions. All that differs between wires is a member here, and what a wire does
 * not have is null: a new one says so of each.
 */
export interface Codec extends StreamWire {
  readonly name: WireName;
  /** What a streamed answer’s content-type is. */
  readonly contentType: 'text/event-stream' | 'application/vnd.amazon.eventstream';
  encodeRequest(request: WireRequest, options?: EncodeOptions): Encoded;
  /** Throws RequestFault where the request is not of this wire. */
  decodeRequest(body: Body, address?: Address): DecodedRequest;
  encodeTool(tool: WireTool): string;
  /** The messages as items of the request’s own list of them. */
  encodeMessages(messages: readonly Message[]): readonly string[];
  toolLocations(root: JsonSpan): ToolLocations;
  readonly messagesName: 'messages' | 'input' | 'contents';
  encodeTurn(turn: Turn, createdAtMs: number, beside?: JsonObject): Encoded;
  streamEncoder(head: TurnHead): StreamEncoder;
  /** The event by which it says that a stream ends in an error. */
  errorFrame(failure: StreamFailure): Uint8Array;
  /** Whether results stand as blocks in the content of a message; elsewhere they are items of their own. */
  readonly hasBlocks: boolean;
  /** Null where no answer comes back that is bound. */
  readonly pastAnswers: PastAnswerForm | null;
  /** Whether its provider keeps answers that a request can go on from by their id. */
  readonly keepsAnswers: boolean;
  /** Null where the tools of its requests are not changed. */
  readonly rounds: RoundScreening | null;
  /** The provider’s own search of tools for a model. */
  nativeSearch(model: string, wish: NativeSearchWish): NativeSearch | NoNativeSearch;
  /** Null where the API has no endpoint for it. */
  readonly countTokens: TokenCount | null;
}
