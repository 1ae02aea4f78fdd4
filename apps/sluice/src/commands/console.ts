import { parseArgs } from 'node:util';
import { LocalSecret, readLocalSecret, systemClock } from '@sluice/host';
import { printable } from '@sluice/core';
import { aboutLink, signInLink } from '../console-link.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice console [--url URL]
  Prints the address of the console of a gateway that runs, for a browser; where no identity is configured with a link that signs one
  browser in, once, within 10 minutes. It needs the local secret: run it where the data folder is, or with SLUICE_LOCAL_SECRET_FILE.
  --url says where the gateway is; by default at SLUICE_HTTP_PORT of this machine.`;

const timeoutMs = 5_000;

export async function run(args: readonly string[], { environment, write, print }: CommandContext): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { url: { type: 'string' } } });
  const url = (values.url ?? `http://127.0.0.1:${environment.httpPort}`).replace(/\/+$/, '');
  const { identity, sign_in: ways = [] } = await about(url);
  if (identity !== 'none') {
    print(`${url}/\n`);
    write(`An identity is configured (${printable(String(identity))}): sign in with a credential of it.\n`);
    return 0;
  }
  const secret = readLocalSecret(environment);
  if (secret === undefined || !ways.includes('local'))
    throw new Error(
      'There is no local secret here, so no link can be made. Run this where the data folder of the service is (SLUICE_DATA), or give both SLUICE_LOCAL_SECRET_FILE.',
    );
  print(`${signInLink(url, new LocalSecret(secret), systemClock.now())}\n`);
  write(`${aboutLink}\n`);
  return 0;
}

/** What the gateway says of itself. */
async function about(url: string): Promise<{ readonly identity?: unknown; readonly sign_in?: readonly unknown[] }> {
  try {
    const response = await fetch(`${url}/v1/console`, { signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 200) return (await response.json()) as Awaited<ReturnType<typeof about>>;
    throw new Error(`it answered ${response.status}`);
  } catch (error) {
    const { message } = (error as { cause?: Error }).cause ?? (error as Error);
    throw new Error(
      `No gateway answers at ${url} (${message}). Start it with \`npm start\` or \`npx sluice serve\`, or say with --url where it is.`,
      { cause: error },
    );
  }
}
