import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { howAServiceIsStarted } from '../node-flags.js';

const main = join(import.meta.dirname, 'main.js');

/** A process that is measured. */
export interface Child {
  readonly url: string;
  /** Megabytes of its memory that are resident. */
  resident(): Promise<number>;
  /** Milliseconds of the processor that it has taken. */
  processor(): Promise<number>;
  close(): Promise<void>;
}

/** The bare proxy or the upstream of served.ts, in a process that is started as a service is. */
export async function startServed(...args: readonly string[]): Promise<Child> {
  const { serviceFlags, nodeVariables } = await howAServiceIsStarted();
  const child = spawn(process.execPath, [...serviceFlags, join(import.meta.dirname, 'served.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...nodeVariables },
  });
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return measured(child, line.toString().trim());
}

/** `sluice serve --role proxy` on the embedded log, under a configuration. */
export async function startSluice(configuration: string): Promise<Child> {
  const { serviceFlags, nodeVariables } = await howAServiceIsStarted();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, configuration);
  const [port, proxyPort] = [await freePort(), await freePort()];
  const options = {
    cwd: join(import.meta.dirname, '..'),
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], ...nodeVariables },
      ...{ SLUICE_DATA: join(folder, 'data'), SLUICE_PORT: String(port), SLUICE_PROXY_PORT: String(proxyPort) },
      SLUICE_LOG_LEVEL: 'warn',
    },
  };
  await promisify(execFile)(process.execPath, [main, 'config', 'apply', file], options);
  const child = spawn(process.execPath, [...serviceFlags, main, 'serve', '--role', 'proxy'], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { close, ...rest } = measured(child, `http://127.0.0.1:${String(proxyPort)}`);
  const closeAll = async (): Promise<void> => {
    await close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilOk(`http://127.0.0.1:${String(port)}/health/ready`);
  } catch (error) {
    await closeAll();
    throw error;
  }
  return { ...rest, close: closeAll };
}

/** Any other program that serves at a port, such as LiteLLM. */
export async function startProgram(
  program: string,
  args: (port: number) => readonly string[],
  { env, ready, waitMs }: { readonly env: NodeJS.ProcessEnv; readonly ready: string; readonly waitMs: number },
): Promise<Child> {
  const port = await freePort();
  const child = spawn(program, args(port), { stdio: 'ignore', env: { ...process.env, ...env } });
  child.on('error', () => undefined);
  const started = measured(child, `http://127.0.0.1:${String(port)}`);
  try {
    await untilOk(`${started.url}${ready}`, waitMs);
    return started;
  } catch (error) {
    await started.close();
    throw error;
  }
}

/** What is seen of a child from outside: its processor time in steps of 10 ms. */
export function measured(child: ChildProcess, url: string): Child {
  return {
    url,
    resident: async () => {
      const status = await readFile(`/proc/${String(child.pid)}/status`, 'utf8').catch(() => '');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
    },
    processor: async () => {
      const stat = await readFile(`/proc/${String(child.pid)}/stat`, 'utf8').catch(() => '');
      // What follows the name, which may hold blanks: user and system time are the 12th and 13th, in hundredths.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(late);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function untilOk(url: string, waitMs = 60_000): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not become ready in time.`);
}
