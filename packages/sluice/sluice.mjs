#!/usr/bin/env node
// The command line of the npm package. It runs first, also on a Node that is too old: plain JavaScript without syntax
// of the last years. A clone has bin/sluice.mjs instead.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (major < 22 || (major === 22 && minor < 15)) {
  console.error(
    `sluice: Sluice needs Node 22.15 or later, and this is ${process.versions.node}. Install Node 24, from https://nodejs.org or by your version manager, and run this again.`,
  );
  process.exitCode = 1;
} else {
  const { flagsFor, nodeVariables } = await import('./flags.mjs');
  const args = process.argv.slice(2);
  // Node 22 warns of its SQLite.
  const flags = major < 24 ? [...flagsFor(args), '--disable-warning=ExperimentalWarning'] : flagsFor(args);
  start([...flags, join(root, 'dist', 'main.js'), ...args], {
    ...nodeVariables,
    // What V8 has compiled once is kept, so that a command starts sooner.
    NODE_COMPILE_CACHE: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'compiled'),
    ...process.env,
  });
}

/** Goes on as Node with these arguments: in place of this process, where the system can do that. */
function start(args, env) {
  if (process.platform !== 'win32' && process.execve !== undefined)
    process.execve(process.execPath, [process.execPath, ...args], env);
  const child = spawn(process.execPath, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`sluice: Node could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}
