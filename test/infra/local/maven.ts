import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from '../instance.ts';
import { runGuarded } from './guarded.ts';
import { needMaven } from './java.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(root, 'node_modules', '.cache', 'sluice-infra');

/**
 * The folder with what a pom of test/infra/maven names, fetched by Maven unless a run before has done so. A changed
 * pom gets another folder. Only what is complete has its final name, so a run that was interrupted leaves nothing
 * half done.
 */
export async function fetchFromMaven(
  name: 'kafka' | 'registry' | 'neo4j',
  goal: string,
  place: Place,
): Promise<string> {
  const pom = join(import.meta.dirname, '..', 'maven', `${name}.xml`);
  const hash = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12);
  const wanted = join(cache, `${name}-${hash}`);
  if (existsSync(wanted)) return wanted;
  await needMaven();
  const unlock = await lock(place);
  try {
    if (existsSync(wanted)) return wanted;
    place.say(`fetching ${name} from Maven Central (once) …`);
    const folder = `${wanted}.part`;
    const log = join(place.folder, 'maven.log');
    const fetch = async (): Promise<void> => {
      await Promise.all([folder, log].map((path) => rm(path, { recursive: true, force: true })));
      await mkdir(folder, { recursive: true });
      const args = ['-B', '-q', '-Dstyle.color=never', '-f', pom, `dependency:${goal}`, `-DoutputDirectory=${folder}`];
      await runGuarded({ command: 'mvn', args, cwd: folder, log, endSignal: 'KILL' }, place.ending);
    };
    try {
      await fetch();
    } catch (error) {
      place.ending.throwIfAborted();
      place.say(
        `fetching ${name} failed, trying once more (${error instanceof Error ? error.message : String(error)})`,
      );
      await fetch();
    }
    await rename(folder, wanted);
    return wanted;
  } finally {
    unlock();
  }
}

/**
 * One Maven at a time for a user: runs of several checkouts share its local repository. The lock is SQLite's, which the
 * system releases when its holder dies.
 */
async function lock(place: Place): Promise<() => void> {
  const database = new DatabaseSync(join(tmpdir(), `sluice-infra-maven-${userInfo().uid}.sqlite`), { timeout: 0 });
  for (;;) {
    try {
      place.ending.throwIfAborted();
      database.exec('begin exclusive');
      return () => database.close();
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) {
        database.close();
        throw error;
      }
      await sleep(200);
    }
  }
}
