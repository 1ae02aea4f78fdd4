import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { howAServiceIsStarted } from '../node-flags.js';
import type { Infrastructure } from './infrastructure.js';
import { variablesOf } from './services.js';

export type Role = 'filter' | 'agent' | 'executor' | 'mcp';

const main = join(import.meta.dirname, 'main.js');

/** A service as a process of its own, built, as a user runs it. */
export interface Instance {
  readonly role: Role;
  readonly process: ChildProcess;
  /** Where MCP clients connect to that role; empty of the others, and until it serves. */
  url(): string;
  /** Resident memory, MB. */
  residentMb(): number;
  stop(): Promise<void>;
}

export interface Cluster {
  readonly prefix: string;
  readonly brokers: readonly string[];
  /** Resolves when it serves. */
  start(role: Role): Promise<Instance>;
  close(): Promise<void>;
}

/** Services as processes on the given infrastructure, under a prefix of their own and one configuration. */
export async function openCluster(parts: Infrastructure, configuration: string): Promise<Cluster> {
  const { serviceFlags, nodeVariables } = await howAServiceIsStarted();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const prefix = `bench-${Date.now()}-`;
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, configuration);
  const env = {
    ...nodeVariables,
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    ...variablesOf(parts, prefix),
    SLUICE_DATA: folder,
    SLUICE_MCP_PORT: '0',
  };
  const running = new Set<Starting>();
  const run = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [...serviceFlags, main, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });

  const applied = run(['config', 'apply', file]);
  const code = await new Promise((resolve) => applied.once('exit', resolve));
  if (code !== 0) throw new Error(`sluice config apply ended with ${String(code)}.`);
  return {
    prefix,
    brokers: parts.brokers,
    start: async (role) => {
      const instance = instanceOf(role, run(['serve', '--role', role]), () => running.delete(instance));
      running.add(instance);
      await instance.serves();
      return instance;
    },
    close: async () => {
      await Promise.all([...running].map((instance) => instance.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Starting extends Instance {
  /** Resolves when it does. */
  serves(): Promise<void>;
}

function instanceOf(role: Role, child: ChildProcess, ended: () => void): Starting {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void exited.then(ended);
  let output = '';
  const serving = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (piece: Buffer) => {
      if (output.includes('"serving"')) return;
      output += piece.toString();
      if (output.includes('"serving"')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`The ${role} ended with ${code} before it served: ${output}`)));
  });
  return {
    role,
    process: child,
    url: () => /"url":"(http[^"]+)"[^\n]*MCP clients/.exec(output)?.[1] ?? '',
    serves: () => serving,
    residentMb: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
