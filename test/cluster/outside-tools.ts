import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../harness/configurations.js';

/** How long a package may take to install, milliseconds. */
const installMs = 240_000;

/** A program that is not ours: what starts it and what it wants in its environment, or why it cannot be had here. */
export type Tool =
  { readonly command: string; readonly variables: Readonly<Record<string, string>> } | { readonly missing: string };

export interface Finished {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * Runs a program in the project's root to its end; one that is not there or takes too long ends with code null and
 * the reason in `errors`.
 */
export function finish(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  timeout = 60_000,
): Promise<Finished> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeout);
    const child = spawn(command, args, { cwd: projectRoot, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
    child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
    child.once('error', (error) => resolve({ code: null, output, errors: error.message }));
    child.once('close', (code) => resolve({ code, output, errors }));
  });
}

/** A Python with the packages that the examples name. */
export function findPython(): Promise<Tool> {
  return findPackages(['-r', join(projectRoot, 'examples/upstream/requirements.txt')], 'sluice-python');
}

/**
 * A Python with packages, as pip is to install them: in an environment of its own, or else beside the machine's own.
 */
export async function findPackages(packages: readonly string[], name: string): Promise<Tool> {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const home = join(projectRoot, 'node_modules/.cache', name);
  const own = join(home, 'venv/bin/python');
  const version = await finish('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']);
  if (version.code !== 0) return { missing: `there is no Python 3.11 or later: ${lastLine(version)}` };
  if (!existsSync(own)) await finish('python3', ['-m', 'venv', join(home, 'venv')], process.env, installMs);
  const installed = await finish(own, [...pip, ...packages], process.env, installMs);
  if (installed.code === 0) return { command: own, variables: {} };
  // Debian leaves venv out unless python3-venv is installed.
  const target = join(home, 'packages');
  const beside = await finish('python3', [...pip, '--target', target, ...packages], process.env, installMs);
  if (beside.code === 0) return { command: 'python3', variables: { PYTHONPATH: target } };
  return { missing: `its packages cannot be installed: ${lastLine(installed)} ${lastLine(beside)}` };
}

/** The kcat that is there, or the distribution's own where we may install it. */
export async function findKcat(): Promise<Tool> {
  const found: Tool = { command: 'kcat', variables: {} };
  if ((await finish('kcat', ['-V'])).code === 0) return found;
  if (process.getuid?.() !== 0) return { missing: 'kcat is not installed, and only root may install it.' };
  const quietly = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const script = 'apt-get install -y -q kcat || { apt-get update -q && apt-get install -y -q kcat; }';
  const installed = await finish('sh', ['-c', script], quietly, installMs);
  return installed.code === 0 ? found : { missing: `kcat cannot be installed: ${lastLine(installed)}` };
}

/** What ask.sh needs. Debian's kcat cannot read Avro, so there it takes Python too. */
export async function findShellTools(python: Tool): Promise<Tool> {
  const kcat = await findKcat();
  if ('missing' in kcat) return kcat;
  if ((await finish('curl', ['--version'])).code !== 0) return { missing: 'curl is not installed.' };
  const reads = (await finish(kcat.command, ['-V'])).output.includes('Avro');
  if (reads) return { command: 'sh', variables: {} };
  if ('missing' in python) return { missing: `this kcat cannot read Avro, and for Python: ${python.missing}` };
  return { command: 'sh', variables: { ...python.variables, PYTHON: python.command } };
}

function lastLine({ output, errors }: Finished): string {
  return (errors.trim() || output.trim()).split('\n').at(-1) ?? '';
}
