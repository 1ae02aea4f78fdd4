import type { JsonObject, ModelMediaType, ToolChoice, ToolInvocationRecord, ToolSpec, WireName } from '@sluice/core';

export type { WireName };

/** A tool as a model sees it. */
export type WireTool = Pick<ToolSpec, 'name' | 'description' | 'inputSchema'>;

/**
 * Fields of a provider that must come back to it with the same part: thought signatures, ids of items. Sent to the
 * wire that they came from and to no other.
 */
export interface Echo {
  readonly wire: WireName;
  readonly fields: JsonObject;
}

/**
 * A call that a model made; `args` is JSON text as the model wrote it, valid or not, and `toolCallId` is empty where
 * it gave none.
 */
export interface WireCall extends Pick<ToolInvocationRecord, 'toolCallId' | 'name' | 'args'> {
  readonly echo?: Echo;
}

interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly echo?: Echo;
}

/** What a model thought, as far as it shows it; the text may be empty where only a signature or a cipher is given. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly echo?: Echo;
}

export interface CallPart extends WireCall {
  readonly type: 'call';
}

export interface ResultPart {
  readonly type: 'result';
  readonly toolCallId: string;
  /** The tool's name, which Gemini wants again; null where the wire does not say it and no call tells it. */
  readonly name: string | null;
  readonly text: string;
  readonly isError: boolean;
  /** Images and files of the result; absent where it is all text. */
  readonly media?: readonly MediaPart[];
}

/** An image or a file for the model to look at. Requests that are read have these as `other`. */
export interface MediaPart {
  readonly type: 'media';
  readonly mediaType: ModelMediaType;
  /** Its bytes in base64. */
  readonly data: string;
  /** A file’s name. No two of a request have the same. */
  readonly name: string;
}

/** A part that the neutral form has no place for, as JSON text as it came: an image, a search of the provider's own. */
export interface OtherPart {
  readonly type: 'other';
  readonly wire: WireName;
  readonly kind: string;
  readonly raw: string;
}

export type TurnPart = TextPart | ReasoningPart | CallPart | OtherPart;
export type MessagePart = TurnPart | ResultPart | MediaPart;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly MessagePart[];
}

/** A request to a model, without a provider. */
export interface WireRequest {
  /** Empty on wires whose address names the model. */
  readonly model: string;
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly WireTool[];
  /** Null where the request says nothing, which all wires take for auto. */
  readonly toolChoice: ToolChoice | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly stopSequences: readonly string[];
  /** Whether the answer is to be streamed; false on wires whose address says it. */
  readonly stream: boolean;
}

/** A request as it came. */
export interface DecodedRequest extends WireRequest {
  /** What the user asked last: the text of the last message that has one of the user's. */
  readonly query: string;
  /** Paths of what the neutral form does not hold, such as `messages[0].content[1].cache_control`. */
  readonly beyond: readonly string[];
}

/**
 * A text for a provider, and what of the request or turn its wire cannot say, each as a sentence's subject: “`stop`”,
 * “a result’s error mark”.
 */
export interface Encoded {
  readonly body: string;
  readonly dropped: readonly string[];
}

/**
 * Why a turn ended. `calls` exactly if the provider stood by calls that it made; `paused` where it goes on once the
 * turn is sent back; `other` is any word that is not known.
 */
export type Finish = 'stop' | 'calls' | 'length' | 'filtered' | 'error' | 'paused' | 'other';

/** Tokens of a turn. Input counts all that was read, what came from a cache or went into one included. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  /** Of the output, what was thought and not said. */
  readonly reasoningTokens: number;
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A turn, without a provider. */
export interface Turn {
  readonly id: string;
  readonly model: string;
  readonly parts: readonly TurnPart[];
  readonly finish: Finish;
  readonly usage: Usage;
}

/** A turn as it came. */
export interface DecodedTurn extends Turn {
  /** The provider's own word for why it ended; null where it gave none. */
  readonly finishAs: string | null;
  readonly notes: readonly Note[];
}

/** Something that was skipped or taken in good part, and how often. */
export interface Note {
  readonly kind: NoteKind;
  /** Which one: the event's type, the field's path. */
  readonly what: string;
  readonly count: number;
}

export type NoteKind =
  | 'unknown_event'
  | 'unknown_block'
  | 'unknown_field'
  | 'whole_for_stream'
  | 'finish_missing'
  | 'calls_beside_stop'
  | 'finish_without_calls'
  | 'malformed_call'
  | 'repeated_arguments'
  | 'bad_usage';
