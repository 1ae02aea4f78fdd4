import type { Environment } from './environment.js';
import { createLog } from './log.js';
import { openRuntime } from './open-runtime.js';
import type { Runtime } from './runtime.js';
import type { Service } from './start-service.js';

/** Resolves with the name of the first signal; another one later than an echo of the first ends the process at once. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let since: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (since !== undefined && performance.now() - since > 1_000) process.exit(130);
        since ??= performance.now();
        resolve(signal);
      });
    }
    // The channel of the parent process: when it closes, the parent is gone and cannot stop this process any more.
    process.once('disconnect', () => resolve('disconnect'));
    // A signal to npm does not reach what it runs: when the parent is gone, this process stops too.
    if (process.env['npm_lifecycle_event'] === undefined) return;
    const parent = process.ppid;
    setInterval(() => process.ppid === parent || resolve('disconnect'), 500).unref();
  });
}

/**
 * A process that serves until it is asked to stop: structured lines on standard output, exit code 1 with the reason
 * if it could not go on.
 */
export async function runProcess(
  environment: Environment,
  starts: readonly ((runtime: Runtime) => Promise<Service>)[],
): Promise<number> {
  const log = createLog(environment.logLevel);
  const stopped = stopSignal();
  const waiting = new AbortController();
  void stopped.then(() => waiting.abort());
  const open = await openRuntime(environment, log, waiting.signal).catch((error: unknown) => {
    // Asked to stop while the log is not there yet: nothing has begun, so nothing has to end.
    if (waiting.signal.aborted) return null;
    throw error;
  });
  if (open === null) return 0;

  try {
    await open.runtime.health.during('services', 'The services are being started.', async () => {
      await open.runtime.configurations.start();
      for (const start of starts) {
        const service = await start(open.runtime);
        open.beforeClose(() => service.close());
      }
    });
    log.info({ url: open.url, instance: environment.instance }, 'serving');
    const reason = await Promise.race([stopped, open.failed]);
    if (reason instanceof Error) {
      log.fatal(reason.message);
      return 1;
    }
    log.info({ signal: reason }, 'stopping');
    return 0;
  } finally {
    await open.close();
  }
}
