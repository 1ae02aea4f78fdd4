import Broker from 'kafkajs/src/broker/index.js';
import { once } from './once.js';

/** By member: the rebalance that gave it its partitions. */
const generations = new Map<string, number>();

/** kafkajs 2.2.4 says which partitions a member was given, and not in which generation of the group. */
export const noteGenerations = once(() => {
  const { syncGroup } = Broker.prototype;
  Broker.prototype.syncGroup = async function (this: Broker, asked) {
    const answer = await syncGroup.call(this, asked);
    generations.set(asked.memberId, asked.generationId);
    return answer;
  };
});

/** Asked once, when the member has received its partitions. */
export function generationOf(memberId: string): number {
  const generation = generations.get(memberId);
  generations.delete(memberId);
  if (generation === undefined) throw new Error(`Unknown generation of ${memberId}.`);
  return generation;
}
