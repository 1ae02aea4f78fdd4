import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from '@sluice/contracts';
import { howAServiceIsStarted } from './node-flags.js';

const main = join(import.meta.dirname, 'main.js');

/** A service, or all of them, as a process of its own, built, as a user runs it. */
export interface Serving {
  readonly process: ChildProcess;
  /** Where it says how it is, and what it counted. */
  readonly url: string;
  /** Where its gateway and its MCP server take requests; empty of one that it has not. */
  readonly doors: { readonly http: string; readonly mcp: string };
  stop(): Promise<void>;
}

/** Processes with one data folder and one configuration. */
export interface Processes {
  readonly folder: string;
  /** Resolves when it serves. `flags` are further ones of Node; it may send what it likes to its parent. */
  start(role: ServiceName | 'all', flags?: readonly string[]): Promise<Serving>;
  close(): Promise<void>;
}

/** Puts the configuration in force. Processes get these variables beside those that every one needs. */
export async function openProcesses(
  variables: Readonly<Record<string, string>>,
  configuration: string,
): Promise<Processes> {
  const { serviceFlags, nodeVariables } = await howAServiceIsStarted();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, configuration);
  const env = {
    ...nodeVariables,
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
    ...variables,
    SLUICE_DATA: folder,
  };
  const running = new Set<Serving>();
  // Each ends with its parent, whose channel it has.
  const run = (args: readonly string[], flags: readonly string[] = []): ChildProcess =>
    spawn(process.execPath, [...serviceFlags, ...flags, main, ...args], {
      ...{ env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
    });
  const applied = run(['config', 'apply', file]);
  const code = await new Promise((resolve) => applied.once('exit', resolve));
  if (code !== 0) throw new Error(`sluice config apply ended with ${String(code)}.`);
  return {
    folder,
    start: async (role, flags) => {
      const serving = await served(role, run(['serve', '--role', role], flags));
      running.add(serving);
      return serving;
    },
    close: async () => {
      await Promise.all([...running].map((serving) => serving.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function served(role: string, child: ChildProcess): Promise<Serving> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (piece: Buffer) => {
      if (output.includes('"serving"')) return;
      output += piece.toString();
      if (output.includes('"serving"')) resolve(output);
    });
    child.once('exit', (code) => reject(new Error(`The ${role} ended with ${code} before it served: ${output}`)));
  });
  const addressIn = (message: string): string =>
    new RegExp(`"url":"(http[^"]+)"[^\\n]*"${message}"`).exec(lines)?.[1] ?? '';
  return {
    process: child,
    url: addressIn('serving'),
    doors: { http: addressIn('requests over HTTP are taken'), mcp: addressIn('MCP clients are served') },
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}
