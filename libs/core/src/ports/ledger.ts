/** What must be decided once for ever: the first writer of a key wins. */
export interface Claim {
  readonly key: string;
  readonly owner: string;
  /** The outcome written beside the claim, null until then. */
  readonly value: string | null;
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
  readonly expiresAt: number;
}

/**
 * What a claim outlives once it is answered. `powerLoss`: it is on the disk. `processLoss`: where the ledger is a file
 * beside the log, it goes with the log’s last records if the machine loses its power, and what it kept from being done
 * twice is done again as those are.
 */
export type Durability = 'powerLoss' | 'processLoss';

export interface ClaimRequest {
  readonly key: string;
  readonly owner: string;
  /** The asker's clock, milliseconds since the epoch. A claim whose `expiresAt` is not after it counts as gone. */
  readonly now: number;
  readonly ttlMs: number;
  /** An outcome that is known already, written with a claim that is new. A claim in force keeps what it has. */
  readonly value?: string;
  /** `powerLoss` by default. */
  readonly durability?: Durability;
}

/** Claims: key, owner, value, expiry. All faults are thrown as Fault('ledger_unreachable', retryable). */
export interface Ledger {
  /** Returns the claim in force: the asker's own if it was first or asks again, else the first one's. */
  claim(request: ClaimRequest): Promise<Claim>;
  /**
   * Writes the outcome beside the owner's claim, once: returns the claim with the value now in force. Throws if the
   * claim is another's or gone.
   */
  settle(key: string, owner: string, value: string, durability?: Durability): Promise<Claim>;
  /** Takes back the owner's claim if it has no outcome: for work that is known not to have begun. */
  release(key: string, owner: string): Promise<boolean>;
  find(key: string): Promise<Claim | undefined>;
  /**
   * Deletes what has expired by `now`, and may leave to the next sweep what is written at this moment; returns how
   * many.
   */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}
