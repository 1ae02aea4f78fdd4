import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stopSignal, commandLog, processEnvironment } from '@sluice/host';
import type { CommandNames } from '@sluice/host';
import { commands, usages } from './commands/all.js';
import type { Command } from './commands/all.js';
import type { CommandContext, DescribedCommand } from './commands/command-context.js';
import type { Output } from './show/output.js';
import { paintFor } from './show/paint.js';

interface Streams {
  /** The folder of the project. */
  readonly root: string;
  readonly calledAs: CommandNames;
  readonly output: Output;
  /** Writes to standard output for people. */
  write(text: string): void;
  /** Writes to standard error for people. */
  note(text: string): void;
}

/** Runs a command with what it works with; resolves with its exit code. */
export function runCommand(command: Command, args: readonly string[], streams: Streams): Promise<number> {
  return command.run(args, surroundings(streams));
}

function surroundings({ root, calledAs, output, write, note }: Streams): CommandContext {
  let stopped: Promise<string> | undefined;
  return {
    environment: { ...processEnvironment(), calledAs },
    log: commandLog(),
    paint: paintFor(process.stdout),
    write,
    print: (text) => output.write(text),
    note,
    taken: () => output.taken(),
    terminal: process.stdout.isTTY,
    // A command that does not look whether it is asked to stop ends at once, as a signal ends it.
    get stopped() {
      return (stopped ??= Promise.race([stopSignal(), output.gone]));
    },
    sampleConfiguration: () => sampleConfiguration(root),
    root,
    inProject: (file) => inProject(root, file),
    input: process.stdin,
    allCommands,
  };
}

async function allCommands(): Promise<readonly DescribedCommand[]> {
  const texts = await usages();
  return Object.entries(commands).map(([name, { summary }]) => ({ name, summary, usage: texts.get(name) ?? '' }));
}

/** The paths in its files are those of the project, so that is where the process goes. */
function inProject(root: string, file: string): string {
  process.chdir(root);
  return file;
}

/** Its paths are those of the project, so that is where the process goes. */
async function sampleConfiguration(root: string): Promise<string> {
  const folder = join(root, 'examples/countries');
  process.chdir(root);
  const data = join(folder, 'countries.nt');
  if (!existsSync(data)) {
    const { buildCountries } = (await import(pathToFileURL(join(folder, 'build.mjs')).href)) as {
      buildCountries(file: string): Promise<number>;
    };
    await buildCountries(data);
  }
  return 'examples/countries/sluice.yaml';
}
