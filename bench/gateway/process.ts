import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Infrastructure } from '../kafka/infrastructure.js';
import { variablesOf } from '../kafka/services.js';
import { howAServiceIsStarted } from '../node-flags.js';

const main = join(import.meta.dirname, 'main.js');

const configuration = `
tool: { now: { type: get_current_time, description: Tells the time, group: [work] } }
policy: { allowed_tools: [now] }
`;

export interface GatewayProcess {
  readonly url: string;
  readonly prefix: string;
  /** Resident memory, MB. */
  memory(): Promise<number>;
  /** Processor time so far, milliseconds. */
  processor(): Promise<number>;
  close(): Promise<void>;
}

/**
 * A gateway as a process of its own on Kafka, with a configuration and no other service: requests are taken and wait.
 */
export async function startGatewayProcess(parts: Infrastructure): Promise<GatewayProcess> {
  const prefix = `gateway-${Date.now()}-`;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, configuration);
  const more = {
    SLUICE_DATA: folder,
    SLUICE_HTTP_STREAMS: '2000',
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
  };
  const { serviceFlags, nodeVariables } = await howAServiceIsStarted();
  const env = { ...variablesOf(parts, prefix), ...nodeVariables, ...more };
  await promisify(execFile)(process.execPath, [main, 'config', 'apply', file], { env });
  const child = spawn(process.execPath, [...serviceFlags, main, 'serve', '--role', 'gateway'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
      const found = /"url":"(http[^"]+)"[^\n]*requests over HTTP/.exec(output)?.[1];
      if (found !== undefined && output.includes('"serving"')) resolve(found);
    });
    void exited.then(() => reject(new Error(`The gateway did not start: ${output}`)));
  });
  return {
    url,
    prefix,
    memory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
    },
    processor: async () => {
      const text = await readFile(`/proc/${child.pid}/stat`, 'utf8');
      // Behind the name, which may hold spaces: user and system time in hundredths of a second.
      const [, , , , , , , , , , , user, system] = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      return ((user ?? NaN) + (system ?? NaN)) * 10;
    },
    close: async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
