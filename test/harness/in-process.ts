import { Readable } from 'node:stream';
import { createLog } from '@sluice/host';
import type { Environment } from '@sluice/host';
import { projectRoot } from './configurations.js';
import type { CommandContext } from '../../apps/sluice/src/commands/command-context.js';

/** A command, as somebody runs it beside the services: with the log and the ledger opened once more. */
export async function inProcess(
  run: (args: readonly string[], surroundings: CommandContext) => Promise<number>,
  environment: Environment,
  ...args: readonly string[]
): Promise<{ code: number; output: string }> {
  let output = '';
  const plain = (text: string): string => text;
  const paint = { strong: plain, dim: plain, state: plain, tool: plain, good: plain, bad: plain };
  const code = await run(args, {
    environment,
    log: createLog('silent'),
    paint,
    terminal: false,
    root: projectRoot,
    inProject: (file) => file,
    write: (text) => void (output += text),
    print: (text) => void (output += text.toString()),
    note: () => undefined,
    taken: () => Promise.resolve(),
    stopped: new Promise(() => undefined),
    sampleConfiguration: () => Promise.reject(new Error('No sample is needed.')),
    input: Readable.from([]),
    allCommands: () => Promise.resolve([]),
  });
  return { code, output };
}
