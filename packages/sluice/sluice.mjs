#!/usr/bin/env node
// The command line of the npm package. It runs first, also on a Node that is too old (bin/node-version.mjs, which is
// beside it once packed). A clone has bin/sluice.mjs instead.
import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode, isAtLeast, leastNode, withNode } from './node-version.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

withNode(leastNode, installNode, () =>
  import('./flags.mjs').then(({ flagsFor, nodeVariables }) => {
    const args = process.argv.slice(2);
    // Node 22 warns of its SQLite.
    const quiet = isAtLeast(process.versions.node, '24') ? [] : ['--disable-warning=ExperimentalWarning'];
    start([...flagsFor(args), ...quiet, join(root, 'dist', 'main.js'), ...args], {
      ...nodeVariables,
      // What V8 has compiled once is kept, so that a command starts sooner.
      NODE_COMPILE_CACHE: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'compiled'),
      ...process.env,
    });
  }),
);

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
  child.on('exit', (code, signal) => {
    if (code !== null) process.exit(code);
    process.exit(signal === 'SIGINT' ? 130 : 1);
  });
}
