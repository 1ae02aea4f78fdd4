import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** A program to run: what to call, with what, as whom, and where its output goes. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user, if it must not run as root. */
  readonly as?: { readonly uid: number; readonly gid: number } | null;
  /** The file to which its output is appended. */
  readonly log: string;
  /** The signal that ends it at once; `KILL` if it cleans up nothing by itself anyhow. */
  readonly endSignal: 'KILL' | 'QUIT';
}

/**
 * The shell that becomes the program leaves a watcher behind, which reads from a pipe that we hold. When we are gone,
 * even by SIGKILL, the read ends and the watcher ends the program. The process id stays that of the shell. The
 * watcher is no child of the program, so that it is not paused along with it.
 */
const guard = 'program=$$; ( (cat <&3; kill -CONT $program; kill -$0 $program) >/dev/null 2>&1 & ); exec "$@" 3<&-';

/** Starts a program that cannot outlive this process. */
export function startGuarded({ command, args, cwd, env, as, log, endSignal }: Program): ChildProcess {
  const output = openSync(log, 'a');
  try {
    const child = spawn('sh', ['-c', guard, endSignal, command, ...args], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', output, output, 'pipe'],
      ...as,
    });
    child.once('exit', () => child.stdio[3]?.destroy());
    return child;
  } finally {
    closeSync(output);
  }
}

/** Runs a program to its end. Rejects with the end of its log if it fails, or when `ending` is aborted. */
export async function runGuarded(program: Program, ending: AbortSignal): Promise<void> {
  ending.throwIfAborted();
  const child = startGuarded(program);
  const stop = (): void => void child.kill('SIGKILL');
  ending.addEventListener('abort', stop);
  try {
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (...how) => resolve(how));
    });
    ending.throwIfAborted();
    if (code !== 0) throw new Error(`${program.command} ended with ${code ?? signal}: ${await tail(program.log)}`);
  } finally {
    ending.removeEventListener('abort', stop);
  }
}

/** The last lines of a log, for whoever must find out why something failed. */
export async function tail(log: string, lines = 30): Promise<string> {
  const text = await readFile(log, 'utf8').catch((error: unknown) => `(no log: ${String(error)})`);
  return `the end of its log:\n${text.trimEnd().split('\n').slice(-lines).join('\n')}`;
}
