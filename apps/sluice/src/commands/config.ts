import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatFindings, formatProblems, namesBefore } from '@sluice/configuration';
import { printable, printableIn } from '@sluice/core';
import type { Bus } from '@sluice/bus';
import { applyConfiguration, configurationsOn, inForceOf, isApplied, judgedConfigurations } from '@sluice/run';
import type { AppliedConfiguration } from '@sluice/run';
import { openBus, openSignatures, requireLog, verifierIfAny } from '@sluice/host';
import { readText } from '../read-text.js';
import { schemaFile } from './init.js';
import { byBeginning } from '../by-beginning.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice config apply FILE [--if-none] [--json]
                                       compiles the file and publishes it: every service follows; with --if-none
                                       only if no configuration was ever in force. Exit code 1 if it has mistakes
sluice config list [--json]            every version that was ever in force; the last one is now
sluice config show [VERSION] [--json]  the compiled configuration as JSON; the one in force unless named
sluice config diff OLD [NEW] [--json]  what changed, key by key; NEW is the one in force unless named
sluice config schema [--json]          the JSON Schema of configuration files, for editors
  A unique prefix of a version is enough. With --json apply prints {file, version, status, replaced, problems}, where status is applied,
  in_force or refused; list a line for each version, {version, compiled_at, source, in_force, refused}; diff a line for each
  change, {path, was, is}; show and schema their JSON in one line.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'if-none': { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  });
  const [action, ...rest] = positionals;
  const { json } = values;
  const quiet = quietFor(json, surroundings);
  const takes = (words: number): void => refuseSurplus({ values, words: rest }, { taken: ['json'], words }, usage);
  switch (action) {
    case 'apply': {
      const file = one(rest, 'FILE');
      return withBus(surroundings, async (bus) =>
        values['if-none'] && (await saysWhatIsInForce(file, bus, json, quiet)) ? 0 : apply(file, bus, json, quiet),
      );
    }
    case 'list':
      takes(0);
      return withLog(surroundings, (bus) => list(bus, json, quiet));
    case 'show':
      takes(1);
      return withLog(surroundings, (bus) => show(rest[0], bus, json, surroundings));
    case 'diff':
      takes(2);
      if (rest[0] === undefined) throw new Error(`Name the version to compare with.\n${usage}`);
      return withLog(surroundings, (bus) => diff(rest[0] ?? '', rest[1], bus, json, quiet));
    case 'schema':
      takes(0);
      surroundings.print(inOneLine(readText(join(surroundings.root, schemaFile)), json));
      return 0;
    case undefined:
    default:
      throw new Error(`${sayWhat('configurations', action)}\n${usage}`);
  }
}

async function apply(file: string, bus: Bus, json: boolean, surroundings: CommandContext): Promise<number> {
  const answer = (version: string | null, status: string, replaced: string | null, problems: string): void => {
    if (json)
      printJson(surroundings, {
        file,
        version,
        status,
        replaced,
        problems: problems === '' ? [] : problems.split('\n'),
      });
  };
  const { write, paint } = surroundings;
  const signatures = openSignatures(surroundings.environment);
  const last = inForceOf(await configurationsOn(bus, signatures));
  const names = namesBefore(last?.read() ?? null);
  // Tools and their checks are loaded where something is compiled, and replay where something is compared.
  const { compileForCommand } = await import('../system/compile-once.js');
  const { configuration, problems, findings } = await compileForCommand(file, surroundings, { names });
  if (configuration === null) {
    answer(null, 'refused', null, formatProblems(problems));
    write(`${paint.bad('✗')} ${file} is refused, what is in force stays:\n${formatProblems(problems)}\n`);
    return 1;
  }
  const { version } = configuration;
  const applying = { signatures, isWhole: surroundings.environment.toolsets === 'whole' };
  if (isApplied(version, last, applying)) {
    answer(version, 'in_force', null, '');
    write(`${paint.good('✓')} ${version} is in force already.\n`);
    return 0;
  }
  const about = { source: file, compiledAt: Date.now() };
  const record = await applyConfiguration(bus, configuration, about, applying);
  answer(version, 'applied', last?.version ?? null, '');
  write(`${paint.good('✓')} ${version} is in force${last === undefined ? '' : `, after ${last.version}`}.\n`);
  if (record.recordSignature === null) write(`${paint.bad(notSigned)}\n`);
  if (findings.length > 0) write(`${formatFindings(findings)}\n`);
  return 0;
}

const notSigned =
  'It is not signed: the keys here are of a former version and have none of the role config. Make them with `sluice keys rotate`, give each process the new keys, and apply it again.';

async function saysWhatIsInForce(
  file: string,
  bus: Bus,
  json: boolean,
  { environment, print, write, paint }: CommandContext,
): Promise<boolean> {
  const last = inForceOf(await configurationsOn(bus, verifierIfAny(environment)));
  if (last !== undefined && json)
    printJson({ print }, { file, version: last.version, status: 'in_force', replaced: null, problems: [] });
  if (last !== undefined)
    write(`${paint.good('✓')} ${last.version} is in force, from ${printable(last.source)}. It stays.\n`);
  return last !== undefined;
}

async function list(bus: Bus, json: boolean, { environment, print, write, paint }: CommandContext): Promise<number> {
  const all = await judgedConfigurations(bus, verifierIfAny(environment));
  const last = inForceOf(all.filter(({ refused }) => refused === null).map(({ applied }) => applied));
  if (all.length === 0) write('No configuration was ever applied. Apply one: sluice config apply FILE\n');
  for (const { applied, refused } of all) {
    const { version, compiledAt, source } = applied;
    const compiled_at = new Date(compiledAt).toISOString();
    if (json) printJson({ print }, { version, compiled_at, source, in_force: applied === last, refused });
    const mark = applied === last ? paint.good(' in force') : refused === null ? '' : paint.bad(` ${refused}`);
    write(`${printable(version)}  ${compiled_at}  ${printable(source)}${mark}\n`);
  }
  return 0;
}

async function show(
  named: string | undefined,
  bus: Bus,
  json: boolean,
  { environment, print }: CommandContext,
): Promise<number> {
  const found = find(await configurationsOn(bus, verifierIfAny(environment)), named);
  print(`${JSON.stringify(found.read(), null, json ? 0 : 2)}\n`);
  return 0;
}

async function diff(
  older: string,
  newer: string | undefined,
  bus: Bus,
  json: boolean,
  { environment, print, write, paint }: CommandContext,
): Promise<number> {
  const all = await configurationsOn(bus, verifierIfAny(environment));
  const [before, after] = [find(all, older), find(all, newer)].map((one) => one.read());
  const { differences } = await import('../system/differences.js');
  for (const { path, was, is } of printableIn(differences(before, after))) {
    if (json) printJson({ print }, { path, was: was ?? null, is: is ?? null });
    if (was !== undefined) write(`${paint.bad(`- ${path}: ${was}`)}\n`);
    if (is !== undefined) write(`${paint.good(`+ ${path}: ${is}`)}\n`);
  }
  return 0;
}

/** The version with this name or the only one with this beginning, or the one in force. */
function find(all: readonly AppliedConfiguration[], named: string | undefined): AppliedConfiguration {
  const found = named === undefined ? inForceOf(all) : byBeginning(all, named, 'version', ({ version }) => version);
  if (found !== undefined) return found;
  throw new Error(
    named === undefined
      ? 'No configuration was ever applied. Apply one: sluice config apply FILE'
      : `There was never a version ${named}. "sluice config list" shows all.`,
  );
}

function inOneLine(text: string, isWanted: boolean): string {
  return isWanted ? `${JSON.stringify(JSON.parse(text))}\n` : text;
}

function one(values: readonly string[], name: string): string {
  const [value, ...more] = values;
  if (value === undefined || more.length > 0) throw new Error(`Give one ${name}.\n${usage}`);
  return value;
}

/** For commands that only look. */
async function withLog(surroundings: CommandContext, work: (bus: Bus) => Promise<number>): Promise<number> {
  requireLog(surroundings.environment);
  return withBus(surroundings, work);
}

async function withBus(surroundings: CommandContext, work: (bus: Bus) => Promise<number>): Promise<number> {
  const { bus } = await openBus(surroundings.environment, surroundings.log);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}
