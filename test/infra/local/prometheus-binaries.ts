import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(root, 'node_modules', '.cache', 'sluice-infra');
const image = 'prom/prometheus:v2.53.0';

/** The commands of a Prometheus: the server, and the tool that checks and tests rules. */
export interface Binaries {
  readonly prometheus: string;
  readonly promtool: string;
}

/**
 * Those on the PATH; else from Debian's package, which is taken apart and not installed, so that nobody has to be root; else out of the
 * Docker image. The last two are fetched once, into the cache.
 * @throws Error that says what to install
 */
export async function findPrometheus(say: (notice: string) => void, ending: AbortSignal): Promise<Binaries> {
  const onPath = { prometheus: 'prometheus', promtool: 'promtool' };
  if (await works(onPath)) return onPath;
  const wanted = join(cache, 'prometheus');
  const cached = { prometheus: join(wanted, 'prometheus'), promtool: join(wanted, 'promtool') };
  if (existsSync(cached.promtool)) return cached;
  const failures: string[] = [];
  for (const [name, fetch] of Object.entries({ 'the package of Debian': fromDebian, Docker: fromDocker })) {
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(`${wanted}.part-`);
    try {
      say(`fetching Prometheus from ${name} (once) …`);
      const binaries = await fetch(folder, ending);
      if (!(await works({ prometheus: join(binaries, 'prometheus'), promtool: join(binaries, 'promtool') })))
        throw new Error('What was fetched does not run on this machine.');
      await moveTo(wanted, binaries);
      return cached;
    } catch (error) {
      ending.throwIfAborted();
      failures.push(`${name}: ${error instanceof Error ? error.message.trim() : String(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    `There is no Prometheus: \`prometheus\` and \`promtool\` are not on the PATH. Install them (the package is called prometheus nearly everywhere). What else was tried: ${failures.join('; ')}`,
  );
}

/** Whoever is first wins: another run may have fetched the same in the meantime. */
async function moveTo(wanted: string, folder: string): Promise<void> {
  try {
    await rename(folder, wanted);
  } catch (error) {
    if (!existsSync(join(wanted, 'promtool'))) throw error;
  }
}

async function fromDebian(folder: string, signal: AbortSignal): Promise<string> {
  // apt fetches as a user of its own, who may not write here; it then does so as us, and says so on its error output.
  await run('apt-get', ['download', 'prometheus'], folder, signal);
  const packed = (await readdir(folder)).find((name) => name.endsWith('.deb'));
  if (packed === undefined) throw new Error('`apt-get download prometheus` fetched nothing.');
  await run('dpkg-deb', ['-x', packed, 'unpacked'], folder, signal);
  return join(folder, 'unpacked', 'usr', 'bin');
}

async function fromDocker(folder: string, signal: AbortSignal): Promise<string> {
  const container = (await run('docker', ['create', image], folder, signal)).trim().split('\n').at(-1) ?? '';
  try {
    const binaries = join(folder, 'bin');
    await mkdir(binaries);
    for (const name of ['prometheus', 'promtool'])
      await run('docker', ['cp', '-L', `${container}:/bin/${name}`, join(binaries, name)], folder, signal);
    return binaries;
  } finally {
    await run('docker', ['rm', container], folder, signal);
  }
}

async function works({ prometheus, promtool }: Binaries): Promise<boolean> {
  try {
    for (const command of [prometheus, promtool]) await promisify(execFile)(command, ['--version']);
    return true;
  } catch {
    return false;
  }
}

async function run(command: string, args: string[], cwd: string, signal: AbortSignal): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, signal })).stdout;
}
