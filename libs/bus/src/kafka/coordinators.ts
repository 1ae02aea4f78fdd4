import type { Kafka } from 'kafkajs';
import { makerOf } from './cluster.js';
import type { Cluster } from './cluster.js';

/** How long an answer is believed, milliseconds: a coordinator that moves costs no more than that beside its own election. */
const believedMs = 1_000;

/**
 * kafkajs 2.2.4 asks who coordinates before every request to a coordinator: four of the nine requests of a transaction are that
 * question. The producers of this client believe an answer for a while. One that is no longer true is refused by the broker that was asked,
 * and a transaction that fails is repeated as it would be anyway.
 */
export function rememberingCoordinators(client: Kafka): Kafka {
  const { make, replace } = makerOf(client);
  replace((options) => remembering(make(options)));
  return client;
}

function remembering(cluster: Cluster): Cluster {
  const ask = cluster.findGroupCoordinatorMetadata.bind(cluster);
  const answers = new Map<string, { readonly until: number; readonly answer: ReturnType<typeof ask> }>();
  cluster.findGroupCoordinatorMetadata = (of) => {
    const key = `${of.coordinatorType} ${of.groupId}`;
    const known = answers.get(key);
    if (known !== undefined && performance.now() < known.until) return known.answer;
    const answer = ask(of);
    answers.set(key, { until: performance.now() + believedMs, answer });
    answer.catch(() => answers.delete(key));
    return answer;
  };
  return cluster;
}
