import type { ArgumentBounds, BoundFacts } from '../bounds/types.js';
import type { PastSpan, TotalLimit } from '../past/types.js';
import type { CallCounts } from '../rules/call-counts.js';

/** Which part of a rule closes its tools; each is a hidden reason of its own. */
export type RuleKind = 'context' | 'time' | 'load' | 'history';

/** A rule of the configuration: its tools are available only while all of its conditions hold. */
export interface AvailabilityRule {
  readonly name: string;
  /** Ids of the tools that it is about, those of its groups included, in configuration order. */
  readonly tools: readonly string[];
  /** Whom the rule binds; absent for everybody. */
  readonly whom?: Whom;
  /** All of these hold. */
  readonly when?: ContextCondition;
  /** Not all of these hold. */
  readonly unless?: ContextCondition;
  readonly time?: TimeCondition;
  readonly load?: LoadCondition;
  readonly history?: HistoryCondition;
  /** A call of its tools outside of these bounds is refused. Of its tools none is closed by them. */
  readonly arguments?: ArgumentBounds;
  /** A call of its tools that passes one of these is refused. */
  readonly totals?: readonly TotalLimit[];
}

/** Whom a rule binds: all that is given must fit, and a list fits where the fact is one of its items. */
export interface Whom extends Pick<ContextCondition, 'tenants' | 'actors' | 'channels' | 'claims' | 'states'> {
  /** Names of agents (RuleFacts.agent). */
  readonly agents?: readonly string[];
}

/** What the one agent there is without a tool of its own is called. */
export const defaultAgent = 'default';

export const channels = ['http', 'mcp', 'proxy', 'kafka', 'schedule', 'hook'] as const;
export type Channel = (typeof channels)[number];

/** Facts of a request. A list holds if the fact is one of its items; what is absent is not asked. */
export interface ContextCondition {
  readonly tenants?: readonly string[];
  readonly actors?: readonly string[];
  readonly channels?: readonly string[];
  /** By the name of a claim: the values of which it must have one. */
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  readonly states?: readonly string[];
  readonly languages?: readonly string[];
  /** UTF-8 bytes of the question, at most. */
  readonly questionBytes?: number;
}

/** A window of the wall clock of a time zone. */
export interface TimeCondition {
  readonly zone: string;
  /** Days of the week on which the window begins, 0 for Sunday. */
  readonly days: readonly number[];
  /** Minutes after midnight; a window that ends before it begins goes on into the next day. */
  readonly from: number;
  readonly until: number;
  /** Dates on which no window begins, as `2026-12-25`. */
  readonly holidays: readonly string[];
}

export const loadMeasures = ['calls_in_flight', 'call_seconds_p95', 'run_budget_left'] as const;
type LoadMeasure = (typeof loadMeasures)[number];

/**
 * A measured value that closes the tools on one side of a threshold, and opens them again on the other side of
 * another.
 */
export interface LoadCondition {
  /** One of `loadMeasures`, or a Prometheus query. */
  readonly measure: LoadMeasure | { readonly prometheus: string };
  /** True: high values close. */
  readonly isHighClosing: boolean;
  readonly close: number;
  readonly open: number;
}

/** What the run did so far, or what its session, user or tenant did; tools by id. */
export interface HistoryCondition {
  /** Whose calls count, and since when; absent for those of the run, as its own record has them. */
  readonly past?: PastSpan;
  readonly after: readonly string[];
  readonly notAfter: readonly string[];
  /** Calls of all the rule’s tools together; null for no limit. */
  readonly atMost: number | null;
  /** Only of a run’s own calls. */
  readonly whileApproved: readonly string[];
  /** The last call of each that has ended succeeded; only with `past`, as `notWhileRunning`. */
  readonly afterSuccessLast?: readonly string[];
  readonly notWhileRunning?: readonly string[];
}

/** A rule whose condition on the run’s history does not hold. */
export interface BrokenHistory {
  readonly rule: string;
  readonly history: HistoryCondition;
}

/** What the run did so far, as its record has it. */
export interface RunHistory {
  readonly calls: CallCounts;
  /** How often each tool succeeded, by id. */
  readonly succeeded: CallCounts;
  /** When the last call of each tool ended that an approver had let through, by id; milliseconds since the epoch. */
  readonly approved: Readonly<Record<string, number>>;
}

/**
 * What rules are judged by, beside groups and state. Everything is on the records, so that a decision can be made
 * again.
 */
export interface RuleFacts extends Omit<RunHistory, 'calls'>, BoundFacts {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tenant: string;
  /** As in the principal: `user:ann`. */
  readonly actor: string;
  /**
   * Which agent calls: the key of an agent’s tool in its runs, `default` in others; empty where the request names the
   * call itself.
   */
  readonly agent: string;
  /** How the request came; empty where that is not known. */
  readonly channel: string;
  readonly question: string;
  /** What was measured, by measure; null: it could not be. */
  readonly loads: Readonly<Record<string, number | null>>;
  /** Names of the rules whose load closed their tools before. */
  readonly held: readonly string[];
  /** Tokens and money of the run so far. */
  readonly spent: { readonly tokens: number; readonly microUsd: number | null };
}
