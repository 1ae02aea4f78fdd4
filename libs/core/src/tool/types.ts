import type { JsonObject, JsonValue } from '../json.js';
import type { RequestOfTool } from '../generated/request-views.js';
import type { StepContent, StepQuestion } from '../run/step.js';
import type { ToolErrorCode, ToolErrorReason } from '../errors.js';

/** What running a tool can change. */
export const toolEffects = ['read_only', 'state_change', 'external_side_effect'] as const;
export type ToolEffect = (typeof toolEffects)[number];

/**
 * What of a result may leave the tool: the named top-level fields (of each element, for a list), or the value as it
 * is.
 */
export type Redaction = { readonly fields: readonly string[] } | { readonly whole: true };

/**
 * What a tool of an MCP server gave: the value, which models read, and the whole answer, for clients of the same
 * protocol.
 */
export class ToolOutput {
  constructor(
    readonly value: JsonValue,
    readonly answer: JsonObject,
  ) {}
}

/**
 * What a tool throws whose server waits for its caller: the request has ended, and nothing of the call is under way.
 * `state` is all that it needs to go on once there is an answer.
 */
export class ToolWaitsError extends Error {
  constructor(readonly state: JsonObject) {
    super('The call waits for an answer of its caller.');
  }
}

/** A tool as the rest of the system knows it; no code, no schema library. `name` is the tool's id. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema draft 7, type object. */
  readonly inputSchema: JsonObject;
  readonly redaction: Redaction;
  readonly effect: ToolEffect;
  /** Hash over the canonical input schema. */
  readonly schemaHash: string;
}

/** What a tool knows about its call: references, and what the schema of the request lets it see; never a secret. */
export interface ToolInvocationContext extends RequestOfTool {
  readonly runId: string;
  /** The session that the run belongs to; with tenant and subject (or actor) it says whose things a tool may touch. */
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly actorId: string;
  readonly tenantId: string;
  readonly subjectId?: string;
  readonly graphId?: string;
  readonly connectionId?: string;
}

/** What a tool may use, by name; only what its contract declares is there. */
export type ToolCapabilities = Readonly<Record<string, unknown>>;

/** A tool with its code bound: it owns validation, execution and redaction. */
export interface BoundTool {
  readonly id: string;
  readonly spec: ToolSpec;
  readonly effect: ToolEffect;
  readonly requiresConnection: boolean;
  readonly capabilities: readonly string[];
  /**
   * True if running it again with the same arguments and idempotency key changes nothing more. Read-only tools always
   * are.
   */
  readonly repeatable: boolean;
  /** How long what it gave may answer equal calls, in milliseconds; absent where each call runs it. */
  readonly cacheMs?: number;
  /** Throws ToolInputError where the arguments do not fit. Returns them with defaults applied. */
  validateInput(rawArgs: JsonValue): JsonValue | Promise<JsonValue>;
  /**
   * Connects to what `exec` sends the call to, within so many milliseconds, and sends nothing of the call: so it comes
   * before the claim of an effect. Throws as `exec` does. Absent where there is nothing to connect to.
   */
  connect?(context: ToolInvocationContext, capabilities: ToolCapabilities, withinMs: number): Promise<void>;
  /**
   * May throw ToolUserError (its text reaches the model), ToolUnavailableError, or anything else (its text is
   * dropped).
   */
  exec(args: JsonValue, context: ToolInvocationContext, capabilities: ToolCapabilities): Promise<unknown>;
  /** Throws where the result is not of the declared shape. */
  validateOutput(rawOutput: unknown): JsonValue;
  /**
   * Whether an earlier call of this key, whose end is not known, took effect; changes nothing. Absent where the tool
   * cannot say. May throw: then it is not known.
   */
  reconcile?(
    args: JsonValue,
    call: ToolInvocationContext & { readonly key: string },
    capabilities: ToolCapabilities,
  ): Promise<ReconcileAnswer>;
  /** Keeps what the redaction allows; throws where it allows nothing of this value. */
  redact(output: JsonValue): JsonValue;
  /**
   * Of a tool whose redaction does not leave its results whole: the answer around the value that is left; null where
   * nothing beside that leaves the tool. Absent for null.
   */
  redactAnswer?(answer: JsonObject, value: JsonValue): JsonObject | null;
}

/** What a tool says of an earlier call: with the output that the call would have given, if it happened. */
export type ReconcileAnswer =
  | { readonly outcome: 'happened'; readonly result: unknown }
  | { readonly outcome: 'did_not_happen' }
  | { readonly outcome: 'unknown' };

/** Where bound tools come from. */
export interface ToolSource {
  getBoundTool(toolId: string): BoundTool | undefined;
  listToolSpecs(): readonly ToolSpec[];
}

/** The end of one call. `safeMessage` never holds an exception's text. */
export type ToolExecResult = {
  readonly toolCallId: string;
  /** Of what the tool gave, before redaction; absent where it gave nothing of its declared shape. */
  readonly resultHash?: string;
  /**
   * When the tool gave it, milliseconds since the epoch, where an earlier call's output answers this one; absent
   * where the tool ran.
   */
  readonly cachedAtMs?: number;
  /** What of it stands in the content store; absent where everything stands in the value. */
  readonly content?: readonly StepContent[];
  /** What the MCP server of the tool asked meanwhile; absent where nothing. */
  readonly questions?: readonly StepQuestion[];
  /** The rule of the configuration that refused the call; absent where none did. */
  readonly rule?: string;
  /** What was found out beside the record to decide about the call; absent for nothing. */
  readonly facts?: Readonly<Record<string, string>>;
} & (
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      readonly errorCode: ToolErrorCode;
      readonly reason?: ToolErrorReason;
      readonly safeMessage: string;
    }
);

/** One thing wrong with a call's arguments. `path` is a JSON pointer, '' for the whole. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
}

/** Arguments that do not fit the input schema. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
  constructor(readonly problems: readonly InputProblem[]) {
    super(problems.map((problem) => `${problem.path || '(arguments)'}: ${problem.message}`).join('; '));
  }
}

/** A failure whose text the tool's author means the model to read. */
export class ToolUserError extends Error {
  override readonly name = 'ToolUserError';
}

/**
 * A failure of what the tool works with, which no other arguments mend; the model may read the text, which is a
 * sentence.
 */
export class ToolFailedError extends Error {
  override readonly name = 'ToolFailedError';
}

/** What the tool needs cannot be reached now, and nothing has happened yet. */
export class ToolUnavailableError extends Error {
  override readonly name = 'ToolUnavailableError';
  readonly reason: 'not_bound' | 'held_back' | 'connection_unreachable' = 'not_bound';
}

/** The tool is another one now than the one that was allowed; nothing has happened. */
export class ToolHeldBackError extends ToolUnavailableError {
  override readonly reason = 'held_back';
}

/** The credential of the tool's connection cannot be had, or the outside does not take it; nothing has happened. */
export class ToolConnectionUnreachableError extends ToolUnavailableError {
  override readonly reason = 'connection_unreachable';
}

/** The broker of the tool's connection gives this caller no credential, or it is not enough; nothing has happened. */
export class ToolConnectionDeniedError extends Error {
  override readonly name = 'ToolConnectionDeniedError';
}

/** The call was sent and no answer came: whether it took effect is not known. */
export class ToolOutcomeLostError extends Error {
  override readonly name = 'ToolOutcomeLostError';
}

/** The tool answered, and not in a way that can be read: the same holds as where no answer came. */
export class ToolAnswerUnreadableError extends ToolOutcomeLostError {}

/** The same, because its time was up: the tool’s own clock may be ahead of the pipeline’s. */
export class ToolTimeoutError extends ToolOutcomeLostError {}

/** The same, because the process that ran the tool ended during the call. */
export class ToolProcessEndedError extends ToolOutcomeLostError {}
