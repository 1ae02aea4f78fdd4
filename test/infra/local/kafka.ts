import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import { brokerSettings } from '../settings.ts';
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

/** A broker that is its own controller, with its data in a fresh folder. */
export async function describeKafka(place: Place): Promise<{ address: Address; service: Service }> {
  const java = await findJava();
  const jars = await fetchFromMaven('kafka', 'copy-dependencies', place);
  const [port, controller] = [await freePort(), await freePort()];
  const inPlace = (name: string): string => join(place.folder, name);
  const settings = {
    ...brokerSettings,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
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

/** Kafka wants 16 bytes in base64; no two of our brokers ever talk to each other, so all may have the same. */
const clusterId = Buffer.from('sluice-infra-001').toString('base64url');
