import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { given } from '../../infra/address.ts';
import type { Address } from '../../infra/address.ts';
import type { Instance, Place } from '../../infra/instance.ts';
import { LocalInstance } from '../../infra/local/instance.ts';
import type { Service } from '../../infra/local/instance.ts';
import { describeNode } from '../../infra/local/kafka.ts';
import { describePostgres } from '../../infra/local/postgres.ts';
import { describeRegistry } from '../../infra/local/registry.ts';
import { freePort } from '../../infra/ports.ts';
import { watchKafka } from './kafka-watch.ts';
import type { Seen } from './kafka-watch.ts';
import { watchPostgres } from './postgres-watch.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Something that can be stopped and started, with the line over which the services reach it. */
export interface Part {
  readonly instance: Instance;
  readonly line: TcpProxy;
}

/** Kafka, the registry and PostgreSQL as processes of this machine, of the suite's own. */
export interface Infrastructure {
  readonly brokers: readonly Part[];
  readonly database: Part;
  readonly registryUrl: string;
  /** Past the lines, for whoever looks on. */
  readonly brokerAddresses: readonly string[];
  /** What the services are given. */
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Three copies of everything, of which two must be written: one broker may go. */
const replicated = {
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
  'share.coordinator.state.topic.replication.factor': '3',
  'share.coordinator.state.topic.min.isr': '2',
};

/** Starts all of it; `count` is of brokers, 1 or 3. @throws Error with the end of a log if something does not start */
export async function startInfrastructure(folder: string, count: 1 | 3, seen: Seen): Promise<Infrastructure> {
  const ending = new AbortController();
  const kept: Instance[] = [];
  const lines: TcpProxy[] = [];
  const place = async (name: string): Promise<Place> => {
    const own = join(folder, name);
    await mkdir(own, { mode: 0o711, recursive: true });
    const say = (notice: string): void => console.error(`  ${name}: ${notice}`);
    return { folder: own, ending: ending.signal, say, keep: (instance) => kept.push(instance) };
  };
  const begin = async (
    { address, service }: { address: Address; service: Service },
    where: Place,
  ): Promise<Instance> => {
    const instance = new LocalInstance(address, service, where);
    where.keep(instance);
    await instance.start();
    return instance;
  };
  const close = async (): Promise<void> => {
    await Promise.all(lines.map((line) => line.close()));
    await Promise.all(kept.map((instance) => instance.remove()));
    ending.abort();
  };

  const controllers = await Promise.all(Array.from({ length: count }, freePort));
  const startBroker = async (id: number): Promise<Part> => {
    const [port, inside, advertised] = [await freePort(), await freePort(), await freePort()];
    const where = await place(`broker-${id}`);
    const door = { port: inside, advertised };
    const node = { id, port, controllers, door, settings: count === 3 ? replicated : {} };
    const described = await describeNode(node, where);
    const line = await TcpProxy.open(advertised, inside, watchKafka(seen));
    lines.push(line);
    return { instance: await begin(described, where), line };
  };
  const startDatabase = async (): Promise<Part> => {
    const where = await place('postgres');
    const described = await describePostgres(where);
    const target = Number(new URL(described.address.kind === 'postgres' ? described.address.databaseUrl : '').port);
    const line = await TcpProxy.open(await freePort(), target, watchPostgres(seen));
    lines.push(line);
    return { instance: await begin(described, where), line };
  };
  /** Nobody stops the registry, so one that is there already will do. */
  const startRegistry = async (): Promise<string> => {
    const named = given('registry', process.env);
    if (named?.kind === 'registry') return named.url;
    const where = await place('registry');
    const { address } = await begin(await describeRegistry(where), where);
    return address.kind === 'registry' ? address.url : '';
  };

  try {
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const [brokers, database, registryUrl] = await Promise.all([
      Promise.all(ids.map(startBroker)),
      startDatabase(),
      startRegistry(),
    ]);
    const databaseUrl = new URL(
      database.instance.address.kind === 'postgres' ? database.instance.address.databaseUrl : '',
    );
    databaseUrl.port = String(database.line.port);
    return {
      brokers,
      database,
      registryUrl,
      brokerAddresses: brokers.flatMap(({ instance: { address } }) =>
        address.kind === 'kafka' ? address.brokers : [],
      ),
      variables: {
        SLUICE_BUS: 'kafka',
        KAFKA_BROKERS: brokers.map(({ line }) => `127.0.0.1:${line.port}`).join(),
        SCHEMA_REGISTRY_URL: registryUrl,
        DATABASE_URL: databaseUrl.href,
        SLUICE_PARTITIONS: '4',
        SLUICE_REPLICATION: String(count),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
