import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { guardProcess } from './guarded.js';
import type { Namespace } from './network/namespace.js';
import { readableFor, withoutLinks } from './readable.js';

/** Megabytes of V8’s heap that a tool’s process may have. */
export const heapMegabytes = 256;

const fromSource = import.meta.url.endsWith('.ts');
const entry = join(import.meta.dirname, fromSource ? 'child.ts' : 'child.js');

/** The packages that the code in the child itself imports: zod’s folder and those beside it. */
const ownPackages = dirname(dirname(realpathSync(createRequire(import.meta.url).resolve('zod/package.json'))));

/** Puts imports right where the sources are run as they are. */
const libraries = join(import.meta.dirname, '../..');
const sourceHooks = join(libraries, '../test/process/typescript.mjs');
/** What a process of a tool reads of Sluice itself: one file, once built. */
const ownCode = fromSource ? [libraries, sourceHooks] : [entry];

/**
 * Starts Node for a tool file, by its real path. It has no environment, can read its own folder, the packages that
 * the file can import and the code that runs it, can write nothing, and can start neither processes nor threads.
 * Unless its network is open it has none: not in Node, and where a namespace can be made, not in the system either.
 */
export function launch(file: string, network: 'closed' | 'open', { command }: Namespace): ChildProcess {
  const readable = [...readableFor(file), ...ownCode, ...withoutLinks(ownPackages)];
  const args = [
    '--permission',
    ...[...new Set(readable)].map((each) => `--allow-fs-read=${each}`),
    // It opens files without asking the permission model.
    '--no-experimental-sqlite',
    '--disable-warning=ExperimentalWarning',
    // Node 22 needs it before 22.18.
    '--experimental-strip-types',
    `--max-old-space-size=${String(heapMegabytes)}`,
    ...(fromSource ? ['--experimental-transform-types', `--import=${sourceHooks}`] : []),
    entry,
    network,
  ];
  // In a group of its own: a Ctrl-C is for the service, which lets calls under way end.
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  const [program, ...before] = [...(network === 'closed' && command !== null ? command : []), process.execPath];
  const child = spawn(program as string, [...before, ...args], {
    cwd: dirname(file),
    env: {},
    stdio: [...stdio],
    detached: true,
  });
  guardProcess(child);
  return child;
}
