import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const askAgainMs = 1_000;

/**
 * Waits until this process holds the lock, which ends with its connection: of all instances one writes the tables,
 * and another goes on soon after that one has ended.
 */
export async function leader({
  config,
  lock,
  schema,
  signal,
  lost,
}: {
  readonly config: pg.ClientConfig;
  readonly lock: number;
  readonly schema: string;
  readonly signal: AbortSignal;
  readonly lost: (error: Error) => void;
}): Promise<() => Promise<void>> {
  const client = new pg.Client(config);
  let isEnding = false;
  const end = async (): Promise<void> => {
    isEnding = true;
    await client.end().catch(() => undefined);
  };
  const broken = (error: Error): void => {
    if (!isEnding) lost(error);
  };
  client.on('error', broken);
  client.on('end', () => broken(new Error('The connection that holds the lock of the lists has ended.')));
  try {
    await client.connect();
    for (;;) {
      signal.throwIfAborted();
      const { rows } = await client.query<{ held: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as held', [
        lock,
        schema,
      ]);
      if (rows[0]?.held === true) return end;
      await delay(askAgainMs, undefined, { signal });
    }
  } catch (error) {
    await end();
    throw error;
  }
}
