import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './configurations.js';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

export interface Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves once the text stands in the output; rejects if the program ends first. */
  says(text: string | RegExp): Promise<void>;
  /** What it has said so far. */
  said(): string;
}

/** Runs a built command line as a user does, with nothing of this process's environment but what it needs. */
export type Run = (args: readonly string[], variables?: Readonly<Record<string, string>>, input?: string) => Program;

export const sluice: Run = programAt(projectRoot, 'dist/main.js');

/** The command line that was built in a checkout: this one, or that of another version. */
export function programAt(root: string, main: string): Run {
  const path = join(root, main);
  return (args, variables = {}, input = '') => {
    if (!existsSync(path)) throw new Error('dist/ is not there: `npm test` builds it first, or run `npm run build`.');
    const child = spawn(process.execPath, [path, ...args], {
      cwd: root,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
        NO_COLOR: '1',
        SLUICE_PORT: '0',
        ...variables,
      },
    });
    child.stdin.end(input);
    return watched(child);
  };
}

function watched(child: ChildProcessWithoutNullStreams): Program {
  let output = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, output, errors })),
  );
  return {
    process: child,
    ended,
    said: () => output,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof text === 'string' ? output.includes(text) : text.test(output)) resolve();
        };
        child.stdout.on('data', look);
        look();
        void ended.then(({ code, errors: said }) =>
          reject(new Error(`It ended with ${code} before it said ${String(text)}: ${output}${said}`)),
        );
      }),
  };
}
