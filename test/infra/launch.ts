import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface Supervisor {
  /** Where it takes commands: `http://127.0.0.1:port`. */
  readonly url: string;
  /** Stops everything it started, and resolves when it has ended itself. */
  stop(): Promise<void>;
}

/**
 * Starts the supervisor. It ends when the channel to this process closes: on `stop`, and also when this process is
 * killed. Detached, so that a Ctrl-C in the terminal reaches us and not it: it has work to do after we are gone.
 */
export async function launch(): Promise<Supervisor> {
  const child = fork(join(import.meta.dirname, 'supervisor.ts'), {
    detached: true,
    execArgv: ['--disable-warning=ExperimentalWarning', '--disable-warning=TimeoutNegativeWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const url = await Promise.race([
    once(child, 'message').then(([message]) => String(message)),
    ended.then(([code]) => {
      throw new Error(`The supervisor of the test infrastructure ended before it was ready (code ${code}).`);
    }),
  ]);
  // Neither the channel nor the process should hold up an end of ours that nobody announced.
  child.unref();
  child.channel?.unref();
  return {
    url,
    stop: async () => {
      child.ref();
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
