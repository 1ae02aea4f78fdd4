import type { ToolErrorCode, ToolErrorReason } from '../errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { StepContent, StepQuestion } from '../run/step.js';
import type {
  BoundTool,
  ReconcileAnswer,
  ToolCapabilities,
  ToolExecResult,
  ToolInvocationContext,
  ToolSource,
} from './types.js';
import type { CallLimit } from './call-limit.js';

/** A call on its way through the pipeline. */
export interface ToolInvocation {
  readonly toolId: string;
  /** The arguments, parsed: text that is not JSON never gets here. */
  readonly args: JsonValue;
  /** UTF-8 bytes of the argument text as the model wrote it. */
  readonly argumentBytes: number;
  readonly context: ToolInvocationContext;
  /** Names this very call for ever; equal for a repeated record. */
  readonly callKey: string;
  /** How long the tool may run, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the service gives the record up. */
  readonly signal: AbortSignal;
}

/** What a stage says: go on, or the code to refuse with. */
export type Verdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: ToolErrorCode;
      readonly reason?: ToolErrorReason;
      readonly message: string;
      /** The rule of the configuration that says so; absent where none does. */
      readonly rule?: string;
    };

/** What a stage says of a call that has no result yet: the turn is parked until what it waits for has happened. */
interface Park<Parked> {
  readonly parked: Parked;
}

/** How a call left the pipeline: with a result, or parked. */
export type CallEnd<Parked> =
  | {
      readonly kind: 'done';
      readonly result: ToolExecResult;
      /**
       * When an earlier attempt began the call whose outcome this is, milliseconds since the epoch; null if this
       * attempt made or refused it.
       */
      readonly begunAtMs: number | null;
    }
  | { readonly kind: 'parked'; readonly parked: Parked };

/** Whether a call took effect whose end is not known: its result, `did not happen`, or `unknown`. */
export type Reconciliation = ToolExecResult | 'did not happen' | 'unknown';

/** What was sent of a call has ended, and the call goes on once its caller has answered. */
export type Waits = 'waits';

/** Which part of a tool was at fault. */
type FaultAt = 'arguments' | 'capabilities' | 'execution' | 'output' | 'redaction' | 'reconciliation';

export interface ToolLimits {
  /** UTF-8 bytes of the argument text, and of the redacted result as JSON text. */
  readonly argumentBytes: number;
  readonly resultBytes: number;
  /** UTF-8 bytes that a result may have which goes into the content store, and of which a record has the first page. */
  readonly contentBytes: number;
}

/** What an equal call got a while ago; or, where there is nothing, what keeps the output of this one. */
export type CachedOutput =
  | {
      readonly kind: 'found';
      readonly output: JsonValue;
      /** The whole answer of an MCP server, where it says more than the output. */
      readonly answer: JsonObject | null;
      readonly cachedAtMs: number;
    }
  | { readonly kind: 'none'; keep(output: JsonValue, answer: JsonObject | null): void };

/** What an earlier attempt at a call began. */
export interface BegunBefore {
  readonly result: ToolExecResult;
  /** When it began, milliseconds since the epoch. */
  readonly startedAtMs: number;
}

/**
 * What the pipeline works with; none is optional, so that no stage can be forgotten. `Parked` says what a parked call
 * waits for.
 */
export interface ToolPipeline<Parked = never> {
  readonly source: ToolSource;
  /** The one evaluator's answer for this tool now, under the granting configuration and the one in force. */
  eligible(toolId: string): Verdict;
  /** Whether policy data allows the tool. */
  allowed(toolId: string): Verdict;
  /** AuthorizationPort.check(actor, subject, 'tool.execute', tool) (F1), with the arguments as they were written. */
  authorize(tool: BoundTool, context: ToolInvocationContext, args: JsonValue): Promise<Verdict>;
  /** Grant and request intersection for tools with connections, and `connection.use`; asks no broker. */
  connection(tool: BoundTool, context: ToolInvocationContext, args: JsonValue): Promise<Verdict>;
  /** Asks both again about the validated arguments, where validation changed what the authorizer was asked about. */
  authorizeValidated(tool: BoundTool, invocation: ToolInvocation, args: JsonValue): Promise<Verdict>;
  /**
   * Whether the validated arguments are within all bounds, under the granting configuration and the one in force.
   */
  bounds(tool: BoundTool, invocation: ToolInvocation, args: JsonValue): Promise<Verdict>;
  /** Whether a person approved this very call, where policy wants that; parks the call while the decision is open. */
  approval(tool: BoundTool, invocation: ToolInvocation, args: JsonValue): Promise<Verdict | Park<Parked>>;
  /**
   * Counts the call against its limit per minute; the last thing that can refuse it without anything of it being
   * fetched.
   */
  rate(tool: BoundTool, invocation: ToolInvocation): Promise<Verdict>;
  /**
   * Of an agent, whose calls are runs of their own: parks the call once that run can begin, or says why it cannot.
   * Null for every other tool. What the run answered is taken back by takeBack.
   */
  handOver(
    tool: BoundTool,
    invocation: ToolInvocation,
    args: JsonValue,
  ): Promise<(Verdict & { ok: false }) | Park<Parked> | null>;
  /** The declared capabilities, bound; throws ToolUnavailableError where one cannot be had. */
  capabilities(
    tool: BoundTool,
    invocation: ToolInvocation,
    signal: AbortSignal,
    limit: CallLimit,
  ): Promise<ToolCapabilities>;
  /**
   * Of a tool with `cacheMs`: what may answer the call in its place. Everything that can refuse a call comes before.
   */
  cached(tool: BoundTool, invocation: ToolInvocation, args: JsonValue): Promise<CachedOutput>;
  /** What the MCP server of the tool has asked in the middle of the call, and how that was answered. */
  questions(): readonly StepQuestion[];
  /**
   * A keyed hash of what the tool gave, as JSON text, for this very call: what is redacted can be proved by it, not
   * guessed.
   */
  hashResult(invocation: ToolInvocation, text: string): string;
  /** The result without the credentials that the call was given. */
  conceal(tool: BoundTool, result: ToolExecResult): ToolExecResult;
  /**
   * Puts the whole answer of a call into the content store, before anything names it, and returns the names; none
   * where the step says everything.
   */
  keepAnswer(invocation: ToolInvocation, answer: JsonObject): Promise<readonly StepContent[]>;
  /**
   * Puts a result that is larger than a record into the content store, and returns its name; null where the store does
   * not take it.
   */
  keepResult(invocation: ToolInvocation, type: string, text: string): Promise<StepContent | null>;
  /** Runs the effect at most once for the call key and the round that begins, or says why not. */
  once(
    tool: BoundTool,
    invocation: ToolInvocation,
    effect: () => Promise<ToolExecResult | Waits>,
    /** Asks the tool whether the call took effect, where its end is not known. */
    ask: () => Promise<Reconciliation>,
    /** Connects to the tool before the claim; the result where that fails. Null for a tool without a connection. */
    connect: (() => Promise<ToolExecResult | null>) | null,
  ): Promise<ToolExecResult | Waits>;
  /** Keeps what the call needs to go on, before anything says that it waits. */
  keepWaiting(invocation: ToolInvocation, state: JsonObject): Promise<void>;
  /** What the call is parked for that waits for an answer of its caller. */
  answer(tool: BoundTool, invocation: ToolInvocation): Parked;
  /**
   * The recorded result of this very call where an earlier attempt began it, so that it cannot be refused any more;
   * null if none did.
   */
  begun(invocation: ToolInvocation): Promise<BegunBefore | null>;
  onStart(invocation: ToolInvocation, args: JsonValue): void;
  onParked(invocation: ToolInvocation, parked: Parked): void;
  onResult(invocation: ToolInvocation, result: ToolExecResult): void;
  /** A tool threw, or gave something that cannot be used: the operator hears why, the model does not. */
  onFault(tool: BoundTool, invocation: ToolInvocation, at: FaultAt, error: unknown): void;
  /** The tool was asked whether the call took effect. */
  onReconciled(invocation: ToolInvocation, outcome: ReconcileAnswer['outcome']): void;
  /** Calls `cancel` when the sender cancels the run; returns a function that stops watching. */
  onCancel(invocation: ToolInvocation, cancel: () => void): () => void;
  /** Calls the action after so many milliseconds; returns what cancels it. */
  after(milliseconds: number, action: () => void): () => void;
  readonly limits: ToolLimits;
  /** Where the tool’s page stands, for a call whose model was not sent the whole description; absent for all others. */
  readonly page?: string;
}
