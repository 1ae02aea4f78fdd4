import Broker from 'kafkajs/src/broker/index.js';

/** By member: the rebalance that gave it its partitions. */
const generations = new Map<string, number>();

/** kafkajs 2.2.4 says which partitions a member was given, and not in which generation of the group. */
export function noteGenerations(): void {
  const { prototype } = Broker;
  if (mended.has(prototype.syncGroup)) return;
  const sync = prototype.syncGroup;
  const noting: typeof sync = async function (this: Broker, asked) {
    const answer = await sync.call(this, asked);
    generations.set(asked.memberId, asked.generationId);
    return answer;
  };
  mended.add(noting);
  prototype.syncGroup = noting;
}

/** Asked once, when the member has been told of its partitions. */
export function generationOf(memberId: string): number {
  const generation = generations.get(memberId);
  generations.delete(memberId);
  if (generation === undefined) throw new Error(`Nobody knows the generation of ${memberId}.`);
  return generation;
}

const mended = new WeakSet<object>();
