import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What worker.ts does when it is started. */
export type Task = 'open' | 'hold' | 'work' | 'publish';

export interface Child {
  readonly processId: number;
  /** What it wrote so far, a line each. */
  readonly lines: readonly string[];
  /** Ends it as a crash does, and waits until it is gone. */
  kill(): Promise<void>;
  readonly exited: Promise<void>;
}

/** A process of its own that runs worker.ts on the file. */
export function startChild(task: Task, file: string): Child {
  const folder = import.meta.dirname;
  const args = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning'];
  const hooks = ['--import', join(folder, '../../../../test/process/typescript.mjs'), join(folder, 'worker.ts')];
  const process_: ChildProcess = spawn(process.execPath, [...args, ...hooks, task, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const lines: string[] = [];
  if (process_.stdout === null || process_.pid === undefined) throw new Error('The child process did not start.');
  createInterface(process_.stdout).on('line', (line) => lines.push(line));
  const exited = new Promise<void>((resolve) => process_.on('close', () => resolve()));
  return {
    processId: process_.pid,
    lines,
    exited,
    kill: async () => {
      process_.kill('SIGKILL');
      await exited;
    },
  };
}

/** Runs a task to its end and returns what it wrote. */
export async function inChild(task: Task, file: string): Promise<string> {
  const child = startChild(task, file);
  await child.exited;
  return child.lines.join('\n');
}
