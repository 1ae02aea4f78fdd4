import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import { brokerSettings, securedSettings, tlsFile } from '../settings.ts';
import { runGuarded } from './guarded.ts';
import type { Program } from './guarded.ts';
import type { Service } from './instance.ts';
import { findJava } from './java.ts';
import { fetchFromMaven } from './maven.ts';
import { freePort } from '../ports.ts';

/** What the broker says goes to the log that is shown when it does not start. */
const logging = `
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = OUT
appender.out.type = Console
appender.out.name = OUT
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c)%n
`;

/** One broker of a cluster, which is a controller as well. */
export interface Node {
  /** From 1. */
  readonly id: number;
  /** Where it answers. */
  readonly port: number;
  /** The controllers' ports, in the order of the ids. */
  readonly controllers: readonly number[];
  /** Another door of the broker: whoever comes in there is told to find it at `advertised`, behind a proxy. */
  readonly door?: { readonly port: number; readonly advertised: number };
  /** Kafka's own properties beside `brokerSettings`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A broker that is its own controller. */
export async function describeKafka(place: Place): Promise<{ address: Address; service: Service }> {
  return describeNode({ id: 1, port: await freePort(), controllers: [await freePort()] }, place);
}

/** The same behind a door that asks who one is (settings.ts). */
export async function describeSecuredKafka(place: Place): Promise<{ address: Address; service: Service }> {
  const port = await freePort();
  const settings = {
    ...securedSettings(),
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:SASL_SSL',
  };
  const door = { port, advertised: port };
  const node = { id: 1, port: await freePort(), controllers: [await freePort()], door, settings };
  const { service } = await describeNode(node, place);
  return { address: { kind: 'secured-kafka', brokers: [`127.0.0.1:${port}`], ca: tlsFile('server.pem') }, service };
}

/** A broker of a cluster, with its data in a fresh folder. */
export async function describeNode(node: Node, place: Place): Promise<{ address: Address; service: Service }> {
  const java = await findJava();
  const jars = await fetchFromMaven('kafka', 'copy-dependencies', place);
  const inPlace = (name: string): string => join(place.folder, name);
  const { id, port, controllers, door } = node;
  const doors = door === undefined ? [] : [`DOOR://127.0.0.1:${door.port}`];
  const settings = {
    ...brokerSettings,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,DOOR:PLAINTEXT',
    ...node.settings,
    'node.id': String(id),
    'controller.quorum.voters': controllers.map((controller, index) => `${index + 1}@127.0.0.1:${controller}`).join(),
    listeners: [`PLAINTEXT://127.0.0.1:${port}`, `CONTROLLER://127.0.0.1:${controllers[id - 1]}`, ...doors].join(),
    'advertised.listeners': [
      `PLAINTEXT://127.0.0.1:${port}`,
      ...(door === undefined ? [] : [`DOOR://127.0.0.1:${door.advertised}`]),
    ].join(),
    'log.dirs': inPlace('data'),
  };
  const properties = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(inPlace('server.properties'), properties.join(''));
  await writeFile(inPlace('log4j2.properties'), logging);

  const run = (flags: readonly string[], main: readonly string[]): Program => ({
    command: java,
    args: [...flags, '-cp', join(jars, '*'), `-Dlog4j2.configurationFile=${inPlace('log4j2.properties')}`, ...main],
    cwd: place.folder,
    log: inPlace('kafka.log'),
    endSignal: 'KILL',
  });
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', inPlace('server.properties')];
  await runGuarded(run(['-Xmx128m', '-XX:TieredStopAtLevel=1'], format), place.ending);
  return {
    address: { kind: 'kafka', brokers: [`127.0.0.1:${port}`] },
    service: { ...run(['-Xmx512m'], ['kafka.Kafka', inPlace('server.properties')]), stopSignal: 'SIGTERM' },
  };
}

/**
 * Kafka wants 16 bytes in base64; brokers that do not know of each other never talk, so all clusters may have the
 * same.
 */
const clusterId = Buffer.from('sluice-infra-001').toString('base64url');
