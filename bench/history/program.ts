import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const main = join(import.meta.dirname, 'main.js');

export interface Running {
  /** From its start until it was ready, milliseconds. */
  readonly readyMs: number;
  /** Where the gateway listens. */
  readonly url: string;
  /** Resident memory, MB. */
  resident(): Promise<number>;
  close(): Promise<void>;
}

function variables(folder: string): NodeJS.ProcessEnv {
  const ports = { SLUICE_PORT: '0', SLUICE_HTTP_PORT: '0', SLUICE_PROXY_PORT: '0', SLUICE_MCP_PORT: '0' };
  const ours = { SLUICE_DATA: folder, MALLOC_ARENA_MAX: '1', ...ports };
  return { PATH: process.env['PATH'], HOME: process.env['HOME'], ...ours };
}

function started(folder: string, args: readonly string[]) {
  return spawn(process.execPath, [main, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: join(import.meta.dirname, '..'),
    env: variables(folder),
  });
}

/** Starts all services on a data folder, as a user does. */
export async function startOn(folder: string): Promise<Running> {
  const begun = performance.now();
  const child = started(folder, ['start']);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
      const line = /http (http\S+)\/v1\/runs .*health (http\S+)/.exec(output);
      if (line !== null) resolve(line);
    });
    void exited.then(() => reject(new Error(`It did not start: ${output}`)));
  });
  const [, url = '', health = ''] = found;
  while (!(await fetch(health)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
  return {
    readyMs: performance.now() - begun,
    url,
    resident: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
    },
    close: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Runs a command on a data folder to its end; returns what it took, milliseconds, until its first line and its end. */
export async function commandOn(
  folder: string,
  ...args: readonly string[]
): Promise<{ readonly firstMs: number; readonly ms: number; readonly lines: number }> {
  const begun = performance.now();
  const child = started(folder, args);
  let firstMs = NaN;
  let lines = 0;
  child.stdout.on('data', (piece: Buffer) => {
    if (Number.isNaN(firstMs)) firstMs = performance.now() - begun;
    for (const byte of piece) if (byte === 10) lines++;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`sluice ${args.join(' ')} ended with ${String(code)}.`);
  return { firstMs, ms: performance.now() - begun, lines };
}
