import { setTimeout as sleep } from 'node:timers/promises';
import type { Point } from '../parts/traps.ts';
import { roles } from '../parts/services.ts';
import type { Inflict } from './fault.ts';

/** How long a service may take to come to a point, milliseconds. */
const patienceMs = 180_000;
/** A rebalance may give nothing to whoever is to be hit; then another one is made. */
const rebalanceMs = 30_000;

interface CrashPoint extends Point {
  /** Reached only while the group gives out its partitions. */
  readonly rebalance?: true;
}

const each = (what: string): CrashPoint[] => roles.map((role) => ({ what, role }));

/** Each moment at which a crash could do harm, as it is seen on the connections of the service. */
export const crashPoints: readonly CrashPoint[] = [
  // Around the effect.
  { what: 'claim of an effect request', role: 'executor' },
  { what: 'claim of an effect response', role: 'executor' },
  { what: 'effect begins', role: 'executor' },
  { what: 'effect done', role: 'executor' },
  { what: 'outcome request', role: 'executor' },
  { what: 'outcome response', role: 'executor' },
  // Around the other claims and the model.
  { what: 'claim of a request response', role: 'filter' },
  { what: 'claim of a turn response', role: 'filter' },
  { what: 'claim of a turn response', role: 'executor' },
  { what: 'claim of a turn response', role: 'agent' },
  { what: 'model asked', role: 'agent' },
  // Around the transaction: before it has anything, with the offset, with the outputs, before and after its commit.
  ...each('TxnOffsetCommit request'),
  ...each('TxnOffsetCommit response'),
  ...each('Produce response'),
  ...each('EndTxn request'),
  ...each('EndTxn response'),
  // While partitions change hands: as a new owner ends what the one before left open, reads how far that one came,
  // and puts its own name there.
  { what: 'JoinGroup response', role: 'executor', rebalance: true },
  { what: 'SyncGroup response', role: 'agent', rebalance: true },
  { what: 'InitProducerId response', role: 'executor', rebalance: true },
  { what: 'InitProducerId response', role: 'filter', rebalance: true },
  { what: 'InitProducerId response', role: 'audit', rebalance: true },
  { what: 'OffsetFetch response', role: 'agent', rebalance: true },
  { what: 'OffsetFetch response', role: 'audit', rebalance: true },
  { what: 'OffsetCommit request', role: 'filter', rebalance: true },
  { what: 'OffsetCommit request', role: 'executor', rebalance: true },
  { what: 'OffsetCommit response', role: 'agent', rebalance: true },
];

/** kill -9 at each point, one after another in any order; the next one does not wait until the last is mended. */
export const crashAtPoints: Inflict = async ({ services, traps, say }, random) => {
  for (const point of random.shuffled(crashPoints)) {
    const sprung = traps.arm(point).then(() => true);
    if (point.rebalance) services.start(point.role);
    const anew = setInterval(() => {
      const [first] = point.rebalance ? services.running(point.role) : [];
      if (first === undefined) return;
      services.stop(first);
      services.complete();
    }, rebalanceMs);
    const reached = await Promise.race([sprung, sleep(patienceMs, false, { ref: false })]);
    clearInterval(anew);
    traps.disarm();
    if (!reached) throw new Error(`No ${point.role} came to the point “${point.what}” within ${patienceMs / 1_000} s.`);
    say(`  ${point.role} killed at: ${point.what}`);
    services.complete();
  }
};
