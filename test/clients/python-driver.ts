import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finish } from '../cluster/outside-tools.js';
import type { Finished } from '../cluster/outside-tools.js';
import { projectRoot } from '../harness/configurations.js';
import type { Driver, Outcome } from './driver.js';

const source = join(projectRoot, 'packages/client-python');
const home = join(projectRoot, 'node_modules/.cache/sluice-python-client');
const installMs = 400_000;

/** A Python in which the client is installed from its source, or why there is none. */
export type Python = { readonly command: string } | { readonly missing: string };

/** In an environment of its own, which later runs use again. */
export async function pythonWithClient(extras: string): Promise<Python> {
  const version = await finish('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']);
  if (version.code !== 0) return { missing: `there is no Python 3.11 or later: ${lastLine(version)}` };
  const command = join(home, 'bin/python');
  if (!existsSync(command)) {
    const made = await finish('python3', ['-m', 'venv', home], process.env, installMs);
    if (made.code !== 0) return { missing: `python3 -m venv failed: ${lastLine(made)}` };
  }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-e', `${source}[${extras}]`];
  const installed = await finish(command, pip, process.env, installMs);
  if (installed.code === 0) return { command };
  return { missing: `its packages cannot be installed: ${lastLine(installed)}` };
}

/** The Python client, blocking or not, in a process that does one step after another. */
export function pythonDriver(python: string, way: 'sync' | 'async'): Driver {
  const child = spawn(python, [join(import.meta.dirname, 'driver.py'), way], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    async call(settings, operation, args) {
      child.stdin.write(`${JSON.stringify({ settings, operation, args })}\n`);
      const { value } = (await lines.next()) as { readonly value?: string };
      if (value === undefined) throw new Error('The Python program ended; what it wrote says why.');
      return JSON.parse(value) as Outcome;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

function lastLine({ output, errors }: Finished): string {
  return (errors.trim() || output.trim()).split('\n').at(-1) ?? '';
}
