import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until it is so; fails the test after 60 s. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > endsAt) throw new Error(`It was not so within 60 s: ${isSo.toString()}`);
    await sleep(20);
  }
}

/** The error a promise rejects with; fails the test if it does not. */
export async function whatIsThrown(promise: Promise<unknown>): Promise<unknown> {
  const value = await promise.then(
    (given: unknown) => ({ given }),
    (thrown: unknown) => ({ thrown }),
  );
  if ('thrown' in value) return value.thrown;
  throw new Error(`Nothing was thrown; it gave ${JSON.stringify(value.given)}`);
}
