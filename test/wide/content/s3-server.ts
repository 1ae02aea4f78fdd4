import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { findPackages } from '../../cluster/outside-tools.js';
import { unusedPort } from '../../../libs/hub/test/unused-port.js';

const startMs = 60_000;

export interface S3Server {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** moto, which speaks S3 and keeps objects in memory. */
export async function startS3(): Promise<S3Server> {
  const python = await findPackages(['moto[server,s3]==5.2.1'], 'sluice-moto');
  if ('missing' in python) throw new Error(python.missing);
  const port = await unusedPort();
  const child = spawn(python.command, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    env: { ...process.env, ...python.variables },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  for (const until = Date.now() + startMs; ; await delay(100)) {
    if (
      await fetch(endpoint).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    if (child.exitCode !== null || Date.now() > until) throw new Error('moto did not start.');
  }
  return {
    endpoint,
    close: async () => {
      child.kill();
      await ended;
    },
  };
}
