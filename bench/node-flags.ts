import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Setup {
  readonly serviceFlags: readonly string[];
  readonly nodeVariables: Readonly<Record<string, string>>;
}

/** How `sluice serve` starts Node for one service of several. */
export async function howAServiceIsStarted(): Promise<Setup> {
  return import(pathToFileURL(join(import.meta.dirname, '../bin/setup.mjs')).href) as Promise<Setup>;
}

/** Measures a part in a process that is started as a service is, unless this one was; rejects if it fails. */
export async function asAService(name: string, measure: () => Promise<void>): Promise<void> {
  const { serviceFlags } = await howAServiceIsStarted();
  if (serviceFlags.every((flag) => process.execArgv.includes(flag))) return measure();
  const child = spawn(process.execPath, [...serviceFlags, join(import.meta.dirname, 'bench.js'), name], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`The measurement ${name} ended with ${String(code)}.`);
}
