import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import type { Service } from './instance.ts';
import { findJava } from './java.ts';
import { fetchFromMaven } from './maven.ts';
import { freePort } from '../ports.ts';

/** A registry that keeps its schemas in memory: a restart loses them. */
export async function describeRegistry(place: Place): Promise<{ address: Address; service: Service }> {
  const java = await findJava();
  const folder = await fetchFromMaven('registry', 'unpack', place);
  const jar = (await readdir(folder)).find((file) => file.endsWith('-runner.jar'));
  if (jar === undefined) throw new Error(`There is no *-runner.jar in ${folder}. Remove that folder and try again.`);
  const port = await freePort();
  return {
    address: { kind: 'registry', url: `http://127.0.0.1:${port}/apis/ccompat/v7` },
    service: {
      command: java,
      // It starts in half the time when it is not compiled twice.
      args: [
        '-Xmx512m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-Dquarkus.http.host=127.0.0.1',
        `-Dquarkus.http.port=${port}`,
        '-jar',
        join(folder, jar),
      ],
      cwd: place.folder,
      log: join(place.folder, 'registry.log'),
      stopSignal: 'SIGTERM',
      endSignal: 'KILL',
    },
  };
}
