import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../harness/configurations.js';

interface StackScript {
  compose(): readonly string[];
  untilReady(compose: readonly string[], folder: string): Promise<void>;
}

const execute = promisify(execFile);

/** The stack as a project of its own on ports of its own. */
export class Stack {
  private constructor(
    private readonly script: StackScript,
    private readonly words: readonly string[],
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async open(
    project: string,
    environment: Readonly<Record<string, string>>,
    files: readonly string[] = ['docker-compose.yml'],
  ): Promise<Stack> {
    const script = (await import(join(projectRoot, 'bin/stack.mjs'))) as StackScript;
    const named = files.flatMap((file) => ['-f', file]);
    return new Stack(script, [...script.compose(), '-p', project, ...named], environment);
  }

  /** What Compose prints; rejects with what it says if it fails. */
  async compose(...args: string[]): Promise<string> {
    const [program = '', ...first] = this.words;
    return run(program, [...first, ...args], this.environment);
  }

  /** The command line, in a container of its own. */
  sluice(...args: string[]): Promise<string> {
    return this.compose('run', '--rm', '-T', 'sluice', ...args);
  }

  /** The same, with the bytes of its standard output in a file. */
  async sluiceInto(file: string, ...args: string[]): Promise<void> {
    const command = [...this.words, 'run', '--rm', '-T', 'sluice', ...args];
    await run('sh', ['-c', 'exec "$@" > "$0"', file, ...command], this.environment);
  }

  ready(): Promise<void> {
    return this.script.untilReady(this.words, projectRoot);
  }

  /** The containers of a service. */
  async containers(service: string): Promise<readonly string[]> {
    return (await this.compose('ps', '-q', service)).split('\n').filter((id) => id !== '');
  }

  async inspect(service: string): Promise<readonly Inspected[]> {
    return inspect(await this.containers(service));
  }
}

export interface Inspected {
  readonly Name: string;
  readonly State: { readonly OOMKilled: boolean; readonly StartedAt: string; readonly Pid: number };
}

async function inspect(containers: readonly string[]): Promise<readonly Inspected[]> {
  return JSON.parse(await docker('inspect', ...containers)) as readonly Inspected[];
}

/**
 * Kills what runs in the container, as a crash would, and resolves when Docker has started it again. `docker kill`
 * will not do: what was stopped by hand stays so. `image` is one with a shell, for somebody who sees the host's
 * processes.
 */
export async function crash(container: string, image: string): Promise<void> {
  const [before] = await inspect([container]);
  if (before === undefined) throw new Error(`There is no container ${container}.`);
  const kill = ['--entrypoint', 'sh', image, '-c', `kill -9 ${before.State.Pid}`];
  await docker('run', '--rm', '--network', 'none', '--pid', 'host', '--user', '0', ...kill);
  for (const until = Date.now() + 60_000; ;) {
    const [after] = await inspect([container]);
    if (after !== undefined && after.State.Pid > 0 && after.State.StartedAt !== before.State.StartedAt) return;
    if (Date.now() > until) throw new Error(`Nobody started ${before.Name} again within a minute.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What each container of the project takes of what it may, as Docker counts it: `name 63.1MiB / 256MiB`. */
export async function memory(project: string): Promise<readonly string[]> {
  const ids = await docker('ps', '-q', '--filter', `label=com.docker.compose.project=${project}`);
  const lines = await docker('stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}', ...ids.trim().split('\n'));
  return lines.trim().split('\n').sort();
}

export function docker(...args: string[]): Promise<string> {
  return run('docker', args, {});
}

async function run(program: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...environment };
  const options = { cwd: projectRoot, env, maxBuffer: 256 * 1024 * 1024 };
  try {
    return (await execute(program, args, options)).stdout;
  } catch (error) {
    // Node's sentence has what was said on standard error alone.
    const { message, code, stderr, stdout } = error as Error & Readonly<Record<'code' | 'stderr' | 'stdout', unknown>>;
    throw Object.assign(new Error(`${message}\n${String(stdout)}`, { cause: error }), { code, stderr });
  }
}

/** What the image has beyond its base, in bytes: its layers down to the first of our own. */
export async function ownBytes(image: string): Promise<number> {
  const history = await docker(
    'history',
    '--no-trunc',
    '--human=false',
    '--format',
    '{{.Size}}\t{{.CreatedBy}}',
    image,
  );
  const layers = history.trim().split('\n');
  const first = layers.findIndex((layer) => layer.includes('NODE_ENV=production'));
  if (first < 0) throw new Error(`${image} has no layer that sets NODE_ENV; is it the project's?`);
  return layers.slice(0, first + 1).reduce((sum, layer) => sum + Number(layer.split('\t')[0]), 0);
}
