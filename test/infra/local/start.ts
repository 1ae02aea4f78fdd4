import type { Kind } from '../address.ts';
import type { Instance, Place } from '../instance.ts';
import { describeKafka, describeSecuredKafka } from './kafka.ts';
import { LocalInstance } from './instance.ts';
import { describeNeo4j } from './neo4j.ts';
import { describePostgres } from './postgres.ts';
import { describePrometheus } from './prometheus.ts';
import { describeRegistry } from './registry.ts';

const describe = {
  kafka: describeKafka,
  'secured-kafka': describeSecuredKafka,
  registry: describeRegistry,
  postgres: describePostgres,
  neo4j: describeNeo4j,
  prometheus: describePrometheus,
};

/** Starts a part as a process of this machine, from what Maven Central, npm and Debian have. */
export async function startLocally(kind: Kind, place: Place): Promise<Instance> {
  const { address, service } = await describe[kind](place);
  const instance = new LocalInstance(address, service, place);
  place.keep(instance);
  await instance.start();
  return instance;
}
