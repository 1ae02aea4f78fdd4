import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..', '..');
const cache = join(root, 'node_modules', '.cache', 'sluice-infra');
/** A server of the Prometheus project, and the tool that checks its files. */
interface Program {
  /** Its name on the PATH, in the image and in the cache. */
  readonly server: string;
  readonly tool: string;
  /** Debian's package. */
  readonly packaged: string;
  /** The server's name in that package. */
  readonly packagedServer: string;
  readonly image: string;
}

const prometheus: Program = {
  server: 'prometheus',
  tool: 'promtool',
  packaged: 'prometheus',
  packagedServer: 'prometheus',
  image: 'prom/prometheus:v2.53.0',
};
const alertmanager: Program = {
  server: 'alertmanager',
  tool: 'amtool',
  packaged: 'prometheus-alertmanager',
  packagedServer: 'prometheus-alertmanager',
  image: 'prom/alertmanager:v0.27.0',
};

interface Binaries {
  readonly server: string;
  readonly tool: string;
}

/** Prometheus and promtool. @throws Error that says what to install */
export async function findPrometheus(say: (notice: string) => void, ending: AbortSignal) {
  const { server, tool } = await find(prometheus, say, ending);
  return { prometheus: server, promtool: tool };
}

/** Alertmanager and amtool. @throws Error that says what to install */
export async function findAlertmanager(say: (notice: string) => void, ending: AbortSignal) {
  const { server, tool } = await find(alertmanager, say, ending);
  return { alertmanager: server, amtool: tool };
}

/**
 * Those on the PATH; else from Debian's package, which is unpacked and not installed, so it needs no root; else from
 * the Docker image. The last two are fetched once, into the cache.
 */
async function find(program: Program, say: (notice: string) => void, ending: AbortSignal): Promise<Binaries> {
  const onPath = { server: program.server, tool: program.tool };
  if (await works(onPath)) return onPath;
  const wanted = join(cache, program.server);
  const cached = { server: join(wanted, program.server), tool: join(wanted, program.tool) };
  if (existsSync(cached.tool)) return cached;
  const failures: string[] = [];
  for (const [name, fetch] of Object.entries({ 'the package of Debian': fromDebian, Docker: fromDocker })) {
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(`${wanted}.part-`);
    try {
      say(`fetching ${program.server} from ${name} (once) …`);
      const binaries = await fetch(program, folder, ending);
      if (!(await works({ server: join(binaries, program.server), tool: join(binaries, program.tool) })))
        throw new Error('What was fetched does not run on this machine.');
      await moveTo(wanted, binaries, program);
      return cached;
    } catch (error) {
      ending.throwIfAborted();
      failures.push(`${name}: ${error instanceof Error ? error.message.trim() : String(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    `\`${program.server}\` and \`${program.tool}\` are not on the PATH. Install them (Debian's package is called ${program.packaged}). What else was tried: ${failures.join('; ')}`,
  );
}

/** Whoever is first wins: another run may have fetched the same in the meantime. */
async function moveTo(wanted: string, folder: string, { tool }: Program): Promise<void> {
  try {
    await rename(folder, wanted);
  } catch (error) {
    if (!existsSync(join(wanted, tool))) throw error;
  }
}

async function fromDebian(
  { packaged, packagedServer, server }: Program,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  // apt fetches as a user of its own, who may not write here; it then does so as us, and says so on its error output.
  await run('apt-get', ['download', packaged], folder, signal);
  const packed = (await readdir(folder)).find((name) => name.endsWith('.deb'));
  if (packed === undefined) throw new Error('`apt-get download` fetched nothing.');
  await run('dpkg-deb', ['-x', packed, 'unpacked'], folder, signal);
  const binaries = join(folder, 'unpacked', 'usr', 'bin');
  if (packagedServer !== server) await rename(join(binaries, packagedServer), join(binaries, server));
  return binaries;
}

async function fromDocker({ image, server, tool }: Program, folder: string, signal: AbortSignal): Promise<string> {
  const container = (await run('docker', ['create', image], folder, signal)).trim().split('\n').at(-1) ?? '';
  try {
    const binaries = join(folder, 'bin');
    await mkdir(binaries);
    for (const name of [server, tool])
      await run('docker', ['cp', '-L', `${container}:/bin/${name}`, join(binaries, name)], folder, signal);
    return binaries;
  } finally {
    await run('docker', ['rm', container], folder, signal);
  }
}

async function works({ server, tool }: Binaries): Promise<boolean> {
  try {
    for (const command of [server, tool]) await promisify(execFile)(command, ['--version']);
    return true;
  } catch {
    return false;
  }
}

async function run(command: string, args: string[], cwd: string, signal: AbortSignal): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd, signal })).stdout;
}
