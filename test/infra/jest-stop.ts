import { running } from './running.ts';

/** Jest's globalTeardown: resolves when everything that the run started has ended. */
export default async function stop(): Promise<void> {
  await running.supervisor?.stop();
  running.supervisor = null;
}
