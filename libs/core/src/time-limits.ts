/**
 * Times that several services promise together, each in one place: where two places disagreed about one of them, the
 * promise would be the shorter one. Milliseconds.
 */

/**
 * How long the ledger remembers what was done: effects, turns, requests, approvals, permits of redrives. A week, as
 * long as a record can come again: topics keep their records for a week unless configured otherwise.
 */
export const claimMemoryMs = 7 * 24 * 3_600_000;

/**
 * How far the clocks of processes, brokers and the ledger’s database may be apart. A process whose clock is further
 * off is not ready, so what is looked for on the log from a time on is there if the reading begins so much earlier.
 */
export const clockSkewMs = 60_000;

/**
 * How much later than its time a record may become visible: its transaction is ended by the broker if its producer
 * does not, and clocks differ. What is known to lie on the log from a time on is read again from so much earlier.
 */
export const lateRecordMs = 600_000;
