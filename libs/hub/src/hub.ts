import type {
  CallNotice,
  ContentKind,
  HttpOperation,
  JsonObject,
  JsonValue,
  McpOffer,
  PassedOnKind,
} from '@sluice/core';
import type { QuestionEnd, QuestionKind, QuestionRefusal } from './call-questions.js';

export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** Travels in `_meta` as "sluice/idempotency-key". */
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  /**
   * What the tool was allowed as; a tool that is another one now is not called. Null: nothing is known to hold it to.
   */
  readonly pin: string | null;
  /** Reads resources, or gets a prompt, in place of a call: `tool` is the pattern of their addresses, or its name. */
  readonly kind?: PassedOnKind;
  /** The request that the call is, at a server with an OpenAPI document. */
  readonly operation?: HttpOperation;
  /** W3C Trace Context for the server, in `_meta` as well (`traceparent`, `tracestate`). */
  readonly trace?: Readonly<Record<string, string>>;
  /**
   * Called with what a tool answered, where its value does not say everything: whole, but for kinds of blocks that do
   * not leave the tool; with `besides` only the blocks beside the value.
   */
  onAnswer?(answer: JsonObject): void;
  /** Names who calls: log messages of a server that others use, too, go to no caller. */
  readonly caller?: string;
  /** Called with the progress of the call and log messages of its server, as often as they come. */
  onNotice?(notice: CallNotice): void;
  /** Kinds of blocks that leave the tool; absent for all. */
  readonly blocks?: {
    readonly kinds: readonly ContentKind[];
    /** The value is of texts or structured content alone, and the blocks are given beside it. */
    readonly besides: boolean;
  };
  /** Who answers what the server asks in the middle of the call; absent where none of it gets an answer. */
  readonly answers?: CallAnswers;
  /** What the call authenticates with, at a server that wants a connection. */
  readonly credential?: McpCredential;
}

/** What of a call matters before it is sent. */
export type McpConnectOptions = Pick<McpCallOptions, 'signal' | 'timeoutMs' | 'pin' | 'credential'>;

/** A question that gets no answer, and why, for the server. */
interface Refused {
  readonly refused: string;
}

interface RefusedSampling extends Refused {
  readonly reason: QuestionRefusal;
}

/** A form that a server asks a person to fill in. */
interface FormRequest {
  readonly message: string;
  /** Its fields, as the protocol has them: a flat object. */
  readonly requestedSchema: JsonObject;
}

export interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: JsonObject;
  /** Who answered, which the server does not hear; absent where time was up. */
  readonly by?: string;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** What a server asks a model. None of it comes from the user or the operator. */
export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[];
  readonly systemPrompt: string | null;
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
}

export interface ModelAnswer {
  readonly text: string;
  readonly model: string;
  readonly stopReason: 'endTurn' | 'maxTokens';
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Who answers in the middle of a call. */
export interface CallAnswers {
  /** Called with each question of the call; the returned function with how it was answered. */
  asked?(kind: QuestionKind): (end: QuestionEnd) => void;
  /**
   * The person who makes the call; absent where a model makes it. The time of the call stands still meanwhile. A call
   * that `mayPark` needs no connection while the person thinks: then it may end here, and go on with `resume`.
   */
  elicit?(form: FormRequest, mayPark: boolean): Promise<FormAnswer | Refused | 'parks'>;
  /** What a call that was parked threw as ToolWaitsError; absent for one that begins. */
  readonly resume?: JsonObject;
  sample?(request: SamplingRequest): Promise<ModelAnswer | RefusedSampling>;
}

export interface McpCredential {
  readonly token: string;
  /** Another one, since the server refused this; null if there is none. */
  renew(): Promise<string | null>;
}

export type McpServerState = 'idle' | 'connecting' | 'ready' | 'waiting' | 'closed';

export interface McpServerStatus {
  readonly server: string;
  readonly state: McpServerState;
  /** Why it is not there, as a sentence; null if it is, or was never asked. */
  readonly error: string | null;
  /** Tools of which a call was refused, since they were not what they were allowed as; absent where there are none. */
  readonly heldBack?: readonly string[];
}

/** The one way to the configured servers (M-101 to M-104): MCP servers, and HTTP APIs with an OpenAPI document. */
export interface McpHub {
  discover(): Promise<readonly McpOffer[]>;
  /**
   * Connects to the server, and looks whether its tool is the one that was allowed. Sends nothing of a call, and throws
   * as `call` does where one cannot be sent.
   */
  connect(server: string, tool: string, options: McpConnectOptions): Promise<void>;
  call(server: string, tool: string, args: JsonObject, options: McpCallOptions): Promise<JsonValue>;
  status(): readonly McpServerStatus[];
  close(): Promise<void>;
}

/** A hub that subscribes to resources at their servers, besides. */
export interface WatchingHub extends McpHub {
  /**
   * From now on these resources of the server are subscribed to, and no others; `onResourceUpdated` says of changes.
   * `isLate`: they were wanted before, and may have changed since.
   */
  follow(server: string, uris: ReadonlySet<string>, isLate: boolean): void;
}
