import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const script = join(import.meta.dirname, import.meta.url.endsWith('.ts') ? 'guard.ts' : 'guard.js');

const guarded = new Set<number>();
let guard: ChildProcess | undefined;

/** Has the process ended by the guard if this one ends without doing so. */
export function guardProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  guarded.add(pid);
  if (guard === undefined) startGuard();
  else say(`+${String(pid)}`);
  child.once('exit', () => {
    guarded.delete(pid);
    say(`-${String(pid)}`);
  });
}

function startGuard(): void {
  const args = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=16', script];
  const started = spawn(process.execPath, args, { env: {}, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard = started;
  started.unref();
  (started.stdin as unknown as { unref(): void }).unref();
  const gone = (): void => {
    if (guard === started) guard = undefined;
  };
  started.once('exit', gone);
  started.once('error', gone);
  started.stdin?.on('error', gone);
  for (const pid of guarded) say(`+${String(pid)}`);
}

function say(line: string): void {
  guard?.stdin?.write(`${line}\n`);
}
