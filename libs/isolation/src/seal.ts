import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import v8 from 'node:v8';

/**
 * Takes from the process what Node’s permission model leaves and a tool has no use for: what reaches other processes
 * (the service is one), and what makes V8 or OpenSSL open files. To be called before any code of the tool runs.
 */
export function seal(): void {
  for (const [module, names] of closed)
    for (const name of names) Object.defineProperty(module, name, { value: refused(name), configurable: false });
  syncBuiltinESMExports();
}

const closed: readonly (readonly [object, readonly string[]])[] = [
  [process, ['kill', '_kill', '_debugProcess', '_debugEnd', 'binding', '_linkedBinding', 'dlopen']],
  [process, ['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups']],
  [os, ['setPriority']],
  [v8, ['setFlagsFromString', 'setHeapSnapshotNearHeapLimit']],
  [crypto, ['setEngine']],
];

function refused(name: string): () => never {
  return () => {
    throw new Error(`A tool’s process has no ${name}.`);
  };
}
