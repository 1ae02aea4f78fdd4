import { request } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../address.ts';
import type { Instance, Place } from '../instance.ts';
import { freePort } from '../ports.ts';
import { images } from './images.ts';

/** Milliseconds that a Docker daemon may take to say that it is there. */
const patience = 2_000;

let answer: Promise<boolean> | null = null;

/** Whether a Docker daemon answers: that of DOCKER_HOST, else the sockets where it usually is. Asked once. */
export function hasDocker(): Promise<boolean> {
  answer ??= ask();
  return answer;
}

async function ask(): Promise<boolean> {
  const host = process.env.DOCKER_HOST ?? '';
  if (host !== '' && !host.startsWith('unix://')) return await ping(new URL(host.replace(/^tcp:/, 'http:')));
  const runtime = process.env.XDG_RUNTIME_DIR ?? '';
  const usual = [
    '/var/run/docker.sock',
    join(homedir(), '.docker', 'run', 'docker.sock'),
    join(runtime, 'docker.sock'),
  ];
  const sockets = host === '' ? usual : [host.slice('unix://'.length)];
  return (await Promise.all(sockets.map(ping))).includes(true);
}

/** Any answer is one, also that of a daemon which wants TLS: its client knows how. */
function ping(where: string | URL): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { timeout: patience, agent: false, path: '/_ping' };
    const there =
      typeof where === 'string'
        ? request({ ...options, socketPath: where })
        : request({ ...options, host: where.hostname, port: where.port });
    there.once('response', (response) => {
      response.resume();
      resolve(true);
    });
    there.once('timeout', () => there.destroy());
    there.once('error', () => resolve(false));
    there.once('close', () => resolve(false));
    there.end();
  });
}

/** Starts a part in a container. @throws Error if its image can't be had or it does not come up */
export async function startContainer(kind: Exclude<Kind, 'prometheus'>, place: Place): Promise<Instance> {
  // Loaded only here: testcontainers is large, and without Docker nobody needs it.
  const [{ getContainerRuntimeClient }, { ContainerInstance }] = await Promise.all([
    import('testcontainers'),
    import('./instance.ts'),
  ]);
  const client = await getContainerRuntimeClient();
  await haveReaper(place);
  const image = images(kind, client.info.containerRuntime.host, await freePort());
  const instance = new ContainerInstance(image, client, place);
  place.keep(instance);
  try {
    await instance.create();
  } catch (error) {
    await instance.remove();
    throw error;
  }
  return instance;
}

let reaper: Promise<void> | null = null;

/**
 * The reaper removes our containers should the supervisor itself be killed. Where its image can't be had, we go
 * without.
 */
function haveReaper(place: Place): Promise<void> {
  reaper ??= (async () => {
    if (process.env.TESTCONTAINERS_RYUK_DISABLED === 'true') return;
    const { getContainerRuntimeClient, getReaper } = await import('testcontainers');
    try {
      await getReaper(await getContainerRuntimeClient());
    } catch (error) {
      process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
      place.say(`testcontainers goes without its reaper (${error instanceof Error ? error.message : String(error)}).`);
    }
  })();
  return reaper;
}
