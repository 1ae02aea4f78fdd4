import type {
  AuthorizationPort,
  BoundTool,
  CountedCall,
  JsonValue,
  Judges,
  ListCaller,
  Lookup,
  NeededPast,
  PastCaller,
  RuleFacts,
  Step,
  ToolBudget,
  ToolInvocation,
  ToolPipeline,
  ToolSource,
  Verdict,
} from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import type { Handing } from '../agent-runs.js';
import type { AcceptedDecision, Asking } from '../approvals/request.js';
import type { TurnSoFar } from '../steps.js';

/** A call of a turn, with all that decides about it. */
export interface CallInTurn {
  readonly record: ToolCall;
  /** What the run is called where it is claimed. */
  readonly name: string;
  readonly call: RequestedCall;
  readonly index: number;
  /** Ids of the tools that the turn was offered. */
  readonly offered: ReadonlySet<string>;
  /** The turn before the call. */
  readonly turn: TurnSoFar;
  /** The steps of the turn before the call. */
  readonly steps: readonly Step[];
  readonly judges: Judges;
  /** When the call began, milliseconds since the epoch: by that the rules on its time are judged. */
  readonly at: number;
}

/** What a call waits for. */
export type ParkedCall =
  | { readonly kind: 'approval'; readonly asking: Asking }
  | { readonly kind: 'agent'; readonly handing: Omit<Handing, 'startedAt' | 'fanOut'> };

/** The part of the pipeline that acts; the stages that decide are the same wherever a call is run. */
type Acts = Pick<
  ToolPipeline<ParkedCall>,
  | 'capabilities'
  | 'cached'
  | 'questions'
  | 'hashResult'
  | 'keepAnswer'
  | 'keepResult'
  | 'conceal'
  | 'keepWaiting'
  | 'begun'
  | 'onStart'
  | 'onParked'
  | 'onResult'
  | 'onFault'
  | 'onReconciled'
  | 'onCancel'
  | 'after'
>;

/** What standing approvals of a call are judged by. */
export interface StandingFacts {
  readonly rules: RuleFacts;
  readonly asks: Asking['asks'];
}

/**
 * What a call asks of the world. The executor answers from the world itself; replay, and the question what would be
 * under another configuration, answer from the log.
 */
export interface CallWorld extends Acts {
  /** Milliseconds that are left of the run’s time. */
  timeLeft(): number;
  /** Whether the run is cancelled before the call begins. */
  isCancelled(): Promise<boolean>;
  /** Aborted when the call is revoked. */
  readonly signal: AbortSignal;
  source(): Promise<ToolSource>;
  /** Who is asked whether a call is permitted; all have to permit it. */
  readonly authorizers: readonly AuthorizationPort[];
  onAuthorizerFault(tool: Pick<BoundTool, 'id'>, runId: string, error: unknown): void;
  /** The decision on an approval; null while there is none. */
  decisionOn(approvalId: string): Promise<AcceptedDecision | null>;
  /** The id of the standing approval that lets the call through, of those that it counts against; null if none does. */
  standing(tool: BoundTool, invocation: ToolInvocation, args: JsonValue, by: StandingFacts): Promise<string | null>;
  /** Takes the name of an agent’s run for this very call; false if another call has it. */
  takeAgentRun(agentRunId: string, callKey: string): Promise<boolean>;
  rate(tool: BoundTool, invocation: ToolInvocation, perMinute: ToolBudget['callsPerMinute']): Promise<Verdict>;
  /** What rules ask of calls beyond the run, by name; at `at`, milliseconds since the epoch. */
  past(
    asked: readonly NeededPast[],
    caller: PastCaller,
    at: number,
    callKey: string,
  ): Promise<Readonly<Record<string, string>>>;
  /** Whether values are on lists that are kept elsewhere, by the names of these facts (lookupFact). */
  lists(asked: readonly Lookup[], caller: ListCaller): Promise<Readonly<Record<string, string>>>;
  /** Whether totals refuse the call, where it does not begin: the executor says so as it begins. */
  foresee(counted: CountedCall): Promise<Verdict>;
  /** Begins the call that an agent answers, as `once` does others. */
  beginAgent(invocation: ToolInvocation, counted: CountedCall): Promise<Verdict>;
  /** As in the pipeline; `counted` is null for a call that no rule counts beyond its run. */
  once(...of: [...of: Parameters<ToolPipeline['once']>, counted: CountedCall | null]): ReturnType<ToolPipeline['once']>;
  /** Bytes that a result may have in the content store. */
  readonly contentBytes: number;
  /** Which round of the call begins: it was parked for an answer of its caller so many times, less one. */
  readonly round: number;
  /** When the server asked what the call waits for, milliseconds since the epoch. */
  askedAt(): number;
}
