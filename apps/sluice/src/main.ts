import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { askedToStop, commandLog, processEnvironment } from '@sluice/host';
import { commands, usages } from './commands/all.js';
import type { Surroundings } from './commands/surroundings.js';
import { Output } from './show/output.js';
import { paintFor } from './show/paint.js';
import { wrap } from './show/wrap.js';
import { unknownCommand } from './which-command.js';

/** dist/apps/sluice/src → the project. */
const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

const output = new Output(process.stdout);

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    write(await help());
    return name === undefined ? 2 : 0;
  }
  if (name === 'version' || name === '--version' || name === '-v') {
    output.write(`sluice ${version()}\n`);
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) throw new Error(unknownCommand(name, Object.keys(commands)));
  const command = await load();
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (options.includes('--help') || options.includes('-h')) {
    write(`${command.usage}\n`);
    return 0;
  }
  return command.run(args, surroundings());
}

/** For people: as wide as the terminal, if there is one. */
function write(text: string): void {
  output.write(process.stdout.isTTY ? wrap(text, process.stdout.columns) : text);
}

/** The same on standard error. */
function note(text: string, written?: () => void): void {
  const { isTTY, columns } = process.stderr;
  process.stderr.write(isTTY ? wrap(text, columns) : text, written);
}

function version(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  return version;
}

async function help(): Promise<string> {
  return `Sluice: tools for LLM agents on an event bus.\n\n${[...(await usages()).values()].join('\n\n')}\n`;
}

function surroundings(): Surroundings {
  let stopped: Promise<string> | undefined;
  return {
    environment: processEnvironment(),
    log: commandLog(),
    paint: paintFor(process.stdout),
    write,
    print: (text) => output.write(text),
    note,
    taken: () => output.taken(),
    terminal: process.stdout.isTTY,
    // A command that does not look whether it is asked to stop ends at once, as a signal ends it.
    get stopped() {
      return (stopped ??= Promise.race([askedToStop(), output.gone]));
    },
    sampleConfiguration,
    root,
    inProject,
    input: process.stdin,
  };
}

/** The paths in its files are those of the project, so that is where the process goes. */
function inProject(file: string): string {
  process.chdir(root);
  return file;
}

/** Its paths are those of the project, so that is where the process goes. */
async function sampleConfiguration(): Promise<string> {
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

let code = 0;
try {
  code = await main(process.argv.slice(2));
  await output.flushed();
  process.exit(code);
} catch (error) {
  // The reader of the output has closed it, which is no mistake.
  if (output.hasNoReader) process.exit(code);
  await output.flushed().catch(() => undefined);
  const sentence = `sluice: ${error instanceof Error ? error.message : String(error)}\n`;
  note(sentence, () => process.exit(1));
}
