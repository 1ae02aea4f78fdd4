import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commands } from './commands/all.js';
import { help } from './help.js';
import { Output } from './show/output.js';
import { commandNames, withCommands } from './show/hints.js';
import { wrap } from './show/wrap.js';

/** dist → the project. */
const root = join(dirname(fileURLToPath(import.meta.url)), '..');

const output = new Output(process.stdout);

const helpOptions = ['--help', '-h'];

/** Help and version load nothing of the services, so that they answer at once. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help' || helpOptions.includes(name)) {
    if (name === 'help' && args[0] !== undefined) return usage(args[0]);
    write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === 'version' || name === '--version' || name === '-v') {
    output.write(`sluice ${version()}\n`);
    return 0;
  }
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  if (options.some((option) => helpOptions.includes(option))) return usage(name);
  const command = await (await named(name)).load();
  const { runCommand } = await import('./run-command.js');
  try {
    return await runCommand(command, args, { root, calledAs, output, write, note });
  } catch (error) {
    const { optionProblem } = await import('./which-command.js');
    const problem = optionProblem(error, name, command.usage);
    throw problem === null ? error : Object.assign(new Error(problem, { cause: error }), { code: 'invalid_options' });
  }
}

async function usage(name: string): Promise<number> {
  const { load } = await named(name);
  write(`${(await load()).usage}\n`);
  return 0;
}

async function named(name: string): Promise<(typeof commands)[string]> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command;
  const { unknownCommand } = await import('./which-command.js');
  throw new Error(unknownCommand(name, Object.keys(commands)));
}

/** How it is called from the folder in which it was started. */
const calledAs = commandNames(root, process.cwd());

/** For people: as wide as the terminal, if there is one. */
function write(given: string): void {
  const text = withCommands(given, calledAs);
  output.write(process.stdout.isTTY ? wrap(text, process.stdout.columns) : text);
}

/** The same on standard error. */
function note(given: string, written?: () => void): void {
  const text = withCommands(given, calledAs);
  const { isTTY, columns } = process.stderr;
  process.stderr.write(isTTY ? wrap(text, columns) : text, written);
}

/** What stands behind `--` is another program’s. */
function isJsonWanted(args: readonly string[]): boolean {
  return (args.includes('--') ? args.slice(0, args.indexOf('--')) : args).includes('--json');
}

/** One line; the usage text, which may stand behind a sentence, is left out. */
function errorJson(error: unknown, message: string): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  const isOwn = name === 'Fault' || code === 'invalid_options';
  const text = withCommands(message.split('\nsluice ')[0] ?? message, calledAs);
  return `${JSON.stringify({ error: { code: isOwn ? code : 'failed', message: text } })}\n`;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  return version;
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
  const message = error instanceof Error ? error.message : String(error);
  if (isJsonWanted(process.argv.slice(2))) process.stderr.write(errorJson(error, message), () => process.exit(1));
  else note(`sluice: ${message}\n`, () => process.exit(1));
}
