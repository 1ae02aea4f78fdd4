import type { Claim, ClaimRequest } from './ledger.js';

/** What is counted, and whose: `user/acme/user:ann` and `call/send-mail`. */
export interface CountedItem {
  readonly scope: string;
  readonly item: string;
}

/** What a call adds to an item, in millionths: 1,000,000 for one call. Not negative. */
export interface PastMark extends CountedItem {
  readonly amount: bigint;
}

/** What must hold of items of one scope before a call begins: what was counted, and what it adds, is not above. */
export interface PastLimit {
  readonly scope: string;
  readonly items: readonly string[];
  /** Marks of this time and before are not counted; milliseconds since the epoch. */
  readonly since: number;
  /** Only calls whose end is not known count. */
  readonly isRunningOnly: boolean;
  /** Millionths, as all amounts. */
  readonly adds: bigint;
  readonly atMost: bigint;
}

export interface PastRequest {
  /** Names the call for ever: asked again, it changes nothing. */
  readonly callKey: string;
  readonly now: number;
  /** How long its marks are kept: as long as the longest span that counts them. */
  readonly keepMs: number;
  /** How long it counts as running if its end is never written. */
  readonly runningMs: number;
  readonly marks: readonly PastMark[];
  readonly limits: readonly PastLimit[];
  /** Of a call that has an effect: claimed with the marks, or neither. */
  readonly claim: ClaimRequest | null;
}

/** By the place of each limit: what was counted before this call, without what was given back. */
type Used = readonly bigint[];

export type PastAnswer =
  | {
      readonly kind: 'begun';
      readonly used: Used;
      readonly claim: Claim | null;
      /** True where an earlier attempt wrote its end already; absent for false. */
      readonly hasEnded?: true;
    }
  /** Another attempt holds the claim. Nothing was written. */
  | { readonly kind: 'held'; readonly claim: Claim }
  /** The first limit that does not hold. Nothing was written. */
  | { readonly kind: 'over'; readonly used: Used; readonly limit: number };

/** How a call ended. `none`: it had no effect, so what it reserved is given back. */
export type PastOutcome = 'succeeded' | 'failed' | 'none';

/** What is known of an item since a time. */
export interface PastCount {
  /** Calls that began, those under way included. */
  readonly calls: number;
  readonly succeeded: number;
  readonly running: number;
  /** How the last one ended that has ended; null if none has. */
  readonly last: Exclude<PastOutcome, 'none'> | null;
  readonly amount: bigint;
}

/**
 * Calls of the past, over all runs and processes, for rules with a span that is wider than a run. All faults are
 * thrown as Fault('ledger_unreachable', retryable).
 */
export interface PastCalls {
  /** Checks the limits and writes the marks with the claim, at once: calls side by side never pass a limit together. */
  begin(request: PastRequest): Promise<PastAnswer>;
  /**
   * Writes how the call ended, once. `amounts` by item take the place of what was reserved: an estimate, settled by
   * what was used.
   */
  end(callKey: string, outcome: PastOutcome, amounts?: Readonly<Record<string, bigint>>): Promise<void>;
  /**
   * The newest mark that has to leave the span before the limit holds, by its time; null where no mark has to, or
   * where it would not hold with none. It does not look at `isRunningOnly`.
   */
  blockedBy(limit: PastLimit): Promise<number | null>;
  /** Lets a call that waits count as running until then, in milliseconds since the epoch, or until it has ended. */
  keepRunning(callKey: string, until: number): Promise<void>;
  /** In the order of what is asked. A call that goes on looks at the others: `except` is its key. */
  read(
    asked: readonly (CountedItem & { readonly since: number })[],
    now: number,
    except?: string | null,
  ): Promise<readonly PastCount[]>;
  /** Deletes what no span counts any more. */
  sweep(now: number): Promise<void>;
}
