import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

/** Unhandled errors in a minute beyond which the process ends: whatever fails so often is not passing. */
const mostPerMinute = 20;
/** How long the process may take to end in order, milliseconds. */
const endMs = 60_000;

/**
 * Keeps the process alive at an error that no code handled, mostly a library’s: it is logged and counted, and calls
 * under way come to their ends, a lost one at its time limit. With Node’s default the process would end, and the
 * record that brought the error would come again and end the next process. Two things do end it, in order: an error
 * in the bus’s own code, which leaves a consumer in a state that nothing knows, and a flood. Returns what stops it.
 */
export function surviveUnhandled(given: {
  readonly log: Log;
  readonly metrics: Metrics;
  fail(error: Error): void;
}): () => void {
  const { log, metrics, fail } = given;
  const times: number[] = [];
  for (const kind of ['exception', 'rejection']) metrics.unhandledErrors.inc({ kind }, 0);
  const take = (kind: 'exception' | 'rejection', thrown: unknown): void => {
    const { name, message, stack } = described(thrown);
    metrics.unhandledErrors.inc({ kind });
    log.error({ kind, error: `${name}: ${message}`, stack }, 'an error that no code handled; the process goes on');
    const now = performance.now();
    times.push(now);
    while ((times[0] ?? now) < now - 60_000) times.shift();
    const why = isOfTheBus(stack)
      ? `An error in the bus was not handled: ${message}`
      : times.length > mostPerMinute
        ? `More than ${String(mostPerMinute)} errors in a minute were not handled, the last one: ${message}`
        : null;
    if (why === null) return;
    fail(new Error(why, { cause: thrown }));
    // What is broken may keep it from ending in order.
    setTimeout(() => process.exit(1), endMs).unref();
  };
  const onException = (error: unknown): void => take('exception', error);
  const onRejection = (reason: unknown): void => take('rejection', reason);
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
  };
}

function isOfTheBus(stack: string): boolean {
  return /[\\/]libs[\\/]bus[\\/]src[\\/]|[\\/]dist[\\/]bus-[\w-]+\.js/.test(stack);
}

/** Anything can be thrown, also what throws when it is looked at. */
function described(thrown: unknown): { readonly name: string; readonly message: string; readonly stack: string } {
  try {
    const { name, message, stack } = thrown instanceof Error ? thrown : new Error(String(thrown));
    return { name, message: message.slice(0, 1_000), stack: (stack ?? '').slice(0, 4_000) };
  } catch {
    return { name: 'Error', message: 'It cannot be looked at.', stack: '' };
  }
}
