import { setTimeout as sleep } from 'node:timers/promises';
import { roles } from '../parts/services.ts';
import type { Role } from '../parts/services.ts';
import type { Point } from '../parts/traps.ts';
import type { World } from '../parts/world.ts';
import type { Inflict } from './fault.ts';

/** How long a service may take to come to a point, milliseconds. */
const patienceMs = 180_000;
/** A rebalance may give nothing to whoever is to be hit; then another one is made. */
const rebalanceMs = 30_000;

interface CrashPoint extends Point {
  /** Reached only while the group gives out its partitions. */
  readonly rebalance?: true;
}

/** Before an executor’s claim is in the ledger, and behind that, before it knows. */
const around = (what: string): readonly CrashPoint[] =>
  ['request', 'response'].map((side) => ({ what: `${what} ${side}`, role: 'executor' }));

/** Before a transaction has anything, with the offset, with the outputs, before and after its commit. */
const transaction = (role: Role): readonly CrashPoint[] =>
  [
    ...['TxnOffsetCommit request', 'TxnOffsetCommit response', 'Produce response'],
    ...['EndTxn request', 'EndTxn response'],
  ].map((what) => ({ what, role }));

/** Each moment at which a crash could do harm, as it is seen on the connections of the service. */
export const crashPoints: readonly CrashPoint[] = [
  // Around the effect.
  ...around('claim of an effect'),
  { what: 'effect begins', role: 'executor' },
  { what: 'effect done', role: 'executor' },
  ...around('outcome'),
  // Around the other claims and the model.
  { what: 'claim of a request response', role: 'filter' },
  { what: 'claim of a turn response', role: 'filter' },
  { what: 'claim of a turn response', role: 'executor' },
  { what: 'claim of a turn response', role: 'agent' },
  { what: 'model asked', role: 'agent' },
  // Between a webhook and its commit.
  { what: 'webhook received', role: 'notifier' },
  ...roles.flatMap(transaction),
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

/** Each moment of a call without a model, from its request to the commit of its end; nothing else is asked for. */
const crashPointsOfCalls: readonly CrashPoint[] = [
  // The filter passes a request on that was put on its topic.
  ...transaction('filter'),
  // The executor takes it, keeps what it decides by, and connects to the tool.
  ...around('claim of a request'),
  ...around('decision of a call'),
  // It acts.
  ...around('claim of an effect'),
  { what: 'effect begins', role: 'executor' },
  { what: 'effect done', role: 'executor' },
  ...around('outcome'),
  // It ends the run, with all that it writes and the request’s offset in one transaction.
  ...around('claim of an end'),
  ...transaction('executor'),
];

export const crashAtPoints = crashingAt(crashPoints);
export const crashAtPointsOfCalls = crashingAt(crashPointsOfCalls);

/** kill -9 at each point, one after another in any order; the next one does not wait until the last is mended. */
function crashingAt(points: readonly CrashPoint[]): Inflict {
  return async (world, random) => {
    for (const point of random.shuffled(points)) await crashAt(point, world);
  };
}

async function crashAt(point: CrashPoint, { services, traps, say }: World): Promise<void> {
  const sprung = traps.arm(point).then(() => true);
  if (point.rebalance) services.start(point.role);
  const rebalancing = setInterval(() => {
    const [first] = point.rebalance ? services.running(point.role) : [];
    if (first === undefined) return;
    services.stop(first);
    services.complete();
  }, rebalanceMs);
  const reached = await Promise.race([sprung, sleep(patienceMs, false, { ref: false })]);
  clearInterval(rebalancing);
  traps.disarm();
  if (!reached) throw new Error(`No ${point.role} came to the point “${point.what}” within ${patienceMs / 1_000} s.`);
  say(`  ${point.role} killed at: ${point.what}`);
  services.complete();
}
