import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isClone, packageGivenToNpx } from '../show/hints.js';
import { exampleFolder, exampleNames } from '../example-files.js';
import { starterConfiguration, starterFolder, starterPackage } from '../starter-files.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice init [FILE] [--example NAME]
  Writes a configuration to start from: one tool that needs no key, and the rest as comments to fill in. Editors check it by the schema
  that its first line names. Without FILE, where Sluice comes from its npm package, it makes this folder one that runs: sluice.yaml, a tool
  of your own in TypeScript with a test, package.json with the scripts start and test, .env.example and compose.yml. In a clone it
  writes sluice.yaml alone. --example incident-desk makes this folder a copy of that example, to watch and to change; in a clone it is
  there, as examples/incident-desk. Never replaces a file.`;

/** Where the schema of the configuration stands in the project. */
export const schemaFile = 'schemas/configuration.schema.json';

export function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { example: { type: 'string' } },
  });
  const [file, ...more] = positionals;
  if (more.length > 0) throw new Error(`Name one file.\n${usage}`);
  if (values.example !== undefined) writeExample(values.example, file, surroundings);
  else if (file === undefined && !isClone(surroundings.root)) writeFolder(surroundings);
  else writeConfiguration(file ?? 'sluice.yaml', surroundings);
  return Promise.resolve(0);
}

function writeConfiguration(file: string, { write, paint, root }: CommandContext): void {
  if (existsSync(file)) throw new Error(`${file} is there already, and stays as it is. Name another file.`);
  const schema = relative(dirname(resolve(file)), join(root, schemaFile)).replaceAll('\\', '/');
  writeNew(file, starterConfiguration({ schema, hasTool: false }));
  write(`${paint.good('✓')} ${file} is written. Then:\n`);
  write(`  npx sluice check ${file}\n`);
  write(`  SLUICE_CONFIG=${file} npx sluice ask "What time is it?" --group basic\n`);
  write(`  SLUICE_CONFIG=${file} npm start                 serves it, and reads it again whenever you save it\n`);
}

function writeFolder({ write, print, paint, root }: CommandContext): void {
  const files = starterFolder(installedSchema);
  refuseToReplace(Object.keys(files), 'Go to an empty folder, or name a file for the configuration alone: npx sluice init my.yaml'); // prettier-ignore
  const ofPackage = packageText(packageGivenToNpx(dirname(dirname(root))));
  for (const [file, text] of Object.entries(files)) writeNew(file, text);
  writeFileSync('package.json', ofPackage);
  write(`${paint.good('✓')} This folder runs: ${Object.keys(files).join(', ')} and package.json are written. Then:\n`);
  // As it is: npm is what runs the scripts of this folder.
  print(
    [
      ...(existsSync('node_modules/sluice') ? [] : ['npm install']),
      'npm test                                 calls the tool, and checks what it gives',
      'cp .env.example .env                     names sluice.yaml for npm start; a model’s key goes there too',
      'npm start                                serves it, and reads it again whenever you save it',
      'SLUICE_CONFIG=sluice.yaml npx sluice ask "Compute the price with tax for 250." --group basic',
    ]
      .map((line) => `  ${line}\n`)
      .join(''),
  );
}

/** The schema, from a folder in which the package is installed. */
const installedSchema = `./node_modules/sluice/${schemaFile}`;

function refuseToReplace(files: readonly string[], advice: string): void {
  const present = files.filter((file) => existsSync(file));
  if (present.length > 0) throw new Error(`${present.join(', ')}: there already, and nothing is replaced. ${advice}`);
}

function writeExample(name: string, file: string | undefined, { write, print, paint, root }: CommandContext): void {
  if (file !== undefined) throw new Error('--example writes the files of the example: name no file beside it.');
  if (!exampleNames.includes(name))
    throw new Error(`There is no example "${name}" to write. Name one of ${exampleNames.join(', ')}.`);
  if (isClone(root)) throw new Error(`In a clone the example is there: look into examples/${name}.`);
  const { 'package.json': ofExample = '{}', ...files } = exampleFolder(root, name, installedSchema);
  refuseToReplace(Object.keys(files), 'Go to an empty folder.');
  const { dependencies, scripts } = JSON.parse(ofExample) as {
    readonly dependencies: object;
    readonly scripts: object;
  };
  const ofPackage = packageText(packageGivenToNpx(dirname(dirname(root))), { dependencies, scripts });
  for (const [path, text] of Object.entries(files)) writeNew(path, text);
  writeFileSync('package.json', ofPackage);
  write(`${paint.good('✓')} This folder is the example ${name}; README.md tells its story. Then:\n`);
  print('  npm install\n  npm run demo\n');
}

function packageText(
  given: string | null,
  more: { readonly dependencies?: object; readonly scripts?: object } = {},
): string {
  const text = existsSync('package.json') ? readFileSync('package.json', 'utf8') : '{}';
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch (error) {
    throw new Error(`package.json is no JSON: ${(error as Error).message}. Correct it first.`, { cause: error });
  }
  const sluice = given === null ? null : given.endsWith('.tgz') ? `file:${given}` : given;
  const base = written as { readonly dependencies?: object; readonly scripts?: object };
  const merged = {
    ...base,
    scripts: { ...more.scripts, ...base.scripts },
    dependencies: { ...more.dependencies, ...base.dependencies },
  };
  return `${JSON.stringify(starterPackage(merged, sluice), null, 2)}\n`;
}

function writeNew(file: string, text: string): void {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true });
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}.`, { cause: error });
  }
}
