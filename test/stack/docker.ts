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

  ready(): Promise<void> {
    return this.script.untilReady(this.words, projectRoot);
  }

  /** The containers of a service. */
  async containers(service: string): Promise<readonly string[]> {
    return (await this.compose('ps', '-q', service)).split('\n').filter((id) => id !== '');
  }

  async inspect(service: string): Promise<readonly { readonly State: { readonly OOMKilled: boolean } }[]> {
    return JSON.parse(await docker('inspect', ...(await this.containers(service)))) as never;
  }
}

export function docker(...args: string[]): Promise<string> {
  return run('docker', args, {});
}

async function run(program: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...environment };
  const { stdout } = await execute(program, args, { cwd: projectRoot, env, maxBuffer: 256 * 1024 * 1024 });
  return stdout;
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
