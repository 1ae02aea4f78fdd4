import type { JsonSpan } from './json/span.js';
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
}

/**
 * Writes one turn as a stream: a head, pieces in order (texts may come in as many as one likes, a call comes whole),
 * an end.
 */
export interface StreamEncoder {
  start(): Uint8Array;
  part(part: TurnPart): Uint8Array;
  end(finish: Finish, usage: Usage): Uint8Array;
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

/** One wire, both directions, as pure functions. */
export interface Codec extends StreamWire {
  readonly name: WireName;
  /** What a streamed answer’s content-type is. */
  readonly contentType: 'text/event-stream' | 'application/vnd.amazon.eventstream';
  encodeRequest(request: WireRequest, options?: EncodeOptions): Encoded;
  /** Throws RequestFault where the request is not of this wire. */
  decodeRequest(raw: string, address?: Address): DecodedRequest;
  encodeTool(tool: WireTool): string;
  /** The messages as items of the request’s own list of them. */
  encodeMessages(messages: readonly Message[]): readonly string[];
  toolLocations(root: JsonSpan): ToolLocations;
  readonly messagesName: 'messages' | 'input' | 'contents';
  encodeTurn(turn: Turn, createdAtMs: number): Encoded;
  streamEncoder(head: TurnHead): StreamEncoder;
}
