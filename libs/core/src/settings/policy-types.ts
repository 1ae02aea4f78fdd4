import type { Whom } from '../availability/types.js';
import type { ArgumentBounds } from '../bounds/types.js';
import type { ToolEffect } from '../tool/types.js';

export interface Policy {
  /** Tool ids that may run; everything else is denied. */
  readonly allowedTools: readonly string[];
  /** Ids of the agents that may run, of the allowed tools; absent for none. */
  readonly allowedAgents?: readonly string[];
  /** How many calls of agents may be within one another; absent for 1: agents call no agents. */
  readonly agentDepth?: number;
  /** Effects whose calls need an approval; empty while nothing is written. */
  readonly approvalEffects: readonly ToolEffect[];
  /** Why no call needs an approval, in the operator’s words; absent where that is not said. */
  readonly approvalWaived?: string;
  /**
   * Principals who may decide, `*` alone for everybody; while there are none, a tool that needs an approval is left
   * out.
   */
  readonly approvers: readonly string[];
  /** How long a call waits for its approval, in milliseconds. */
  readonly approvalMs: number;
  readonly requesterMayNotApprove: boolean;
  /** By service, patterns of the persons for whom it may decide; absent where none may. */
  readonly decideFor?: Readonly<Record<string, readonly string[]>>;
  /** Rules that ask for an approval of some calls, in the order of the file; absent for none. */
  readonly approvalRules?: readonly ApprovalRule[];
  readonly budgets: Budgets;
}

/** What happens to a call whose approval did not come in time. */
export type OnExpiry = 'refuse' | 'run';

/** A rule under `policy.approval.rules`. */
export interface ApprovalRule {
  readonly name: string;
  /** Ids of the tools that it is about, those of its groups included, in configuration order. */
  readonly tools: readonly string[];
  /** It is about the tools with these effects too. */
  readonly effects: readonly ToolEffect[];
  /** Whose calls it is about; absent for everybody’s. */
  readonly whom?: Whom;
  /** It does not ask where the arguments are within these bounds; absent: it always asks. */
  readonly unless?: ArgumentBounds;
  /** How many approvers have to approve a call. */
  readonly quorum: number;
  /** Who may decide; absent: those of `policy.approval.approvers`. */
  readonly approvers?: readonly string[];
  /** Who else may decide after a time; absent for no one. */
  readonly escalate?: Escalation;
  /** How long a call waits, in milliseconds; absent: as `policy.approval` says. */
  readonly expiresMs?: number;
  readonly onExpiry: OnExpiry;
}

/** Further approvers of a call that has waited for so many milliseconds. */
export interface Escalation {
  readonly afterMs: number;
  readonly to: readonly string[];
}

/** What calls may use up; null where nothing is written. */
export interface Budgets {
  /** Calls of all tools together in one run; null in configurations of earlier versions, which had no default. */
  readonly callsPerRun: number | null;
  /** Tokens read and written together in one run, and millionths of a US dollar; absent for no limit. */
  readonly tokensPerRun?: number;
  readonly microUsdPerRun?: number;
  /**
   * Whether all that the model is sent is set aside before a turn: question, instructions and definitions of tools,
   * too. Absent without such a limit, and in configurations of earlier versions, which set aside the history alone.
   */
  readonly setsAsideAll?: true;
  /** What models may use within sliding spans, over all runs; absent for no limit. */
  readonly spans?: readonly SpanBudget[];
  /** By tool id; a tool for which nothing is written is not among them. */
  readonly tools: Readonly<Record<string, ToolBudget>>;
}

/** Whose model calls a budget with a span may count together. */
export const budgetScopes = ['user', 'tenant', 'agent'] as const;

/** What the model calls of all runs of one user, tenant or agent may use within a sliding span. */
export interface SpanBudget {
  readonly per: (typeof budgetScopes)[number];
  readonly withinMs: number;
  /** Read and written together, and millionths of a US dollar; absent for no limit. One of them is there. */
  readonly tokens?: number;
  readonly microUsd?: number;
}

/** The lower of a budget and a limit counts. */
export interface ToolBudget {
  readonly timeoutMs: number | null;
  /** UTF-8 bytes of the redacted result as JSON text. */
  readonly resultBytes: number | null;
  readonly callsPerRun: number | null;
  /** Of each tenant, over all instances. */
  readonly callsPerMinute: number | null;
}

export interface Limits {
  readonly maxIterations: number;
  readonly runMs: number;
  readonly toolMs: number;
  readonly modelMs: number;
  /**
   * Calls of one turn that are made, and with it that no call is made whose step might have no room on the turn’s
   * record; absent in configurations of earlier versions, which bounded neither.
   */
  readonly callsPerTurn?: number;
  /** UTF-8 bytes of the encoded history, of a call's arguments, of a call's result. */
  readonly historyBytes: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
  /** How long a run may wait for people in all; absent where it is the default, a day. */
  readonly parkedMs?: number;
  /** Runs of one tenant that the doors let be open at a time, 0 for no limit; absent where it is the default. */
  readonly openRuns?: number;
}
