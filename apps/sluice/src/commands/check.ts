import { parseArgs } from 'node:util';
import { formatFindings, formatProblems } from '@sluice/configuration';
import { printable } from '@sluice/core';
import { networkNamespace } from '@sluice/isolation';
import { keyFileProblem } from '@sluice/identity';
import { aboutTools, allOffered } from '../show/configuration.js';
import { askModels, unusableModels } from '../system/ask-models.js';
import { outsideSources } from '../system/outside-sources.js';
import { compileForCommand } from '../system/compile-once.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice check [--strict] [--model] [--json] [FILE]
  Compiles a configuration (without FILE that of SLUICE_CONFIG) as the system would, asking the MCP servers of allowed tools what they
  offer. Asks once where permissions come from (file or table of users, lookup), OpenFGA and lists that are looked up, with the
  variables that are set here, and says which model's key is not set here. Exit code 1 if it has mistakes; with --strict also if an
  allowed tool cannot be offered, as when its server does not answer, if one of the others does not answer or has no key, or if tools
  that change things run unasked (unasked).
  With --model asks each model of the configuration one short question, and says what is wrong: the key, the address, the name. Exit code 1
  if one gives no answer. --json prints {file, version, ok, problems, findings, sources, models}.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      strict: { type: 'boolean', default: false },
      model: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const [named, ...more] = positionals;
  const file = named ?? surroundings.environment.configFile;
  if (file === undefined || file === null || more.length > 0)
    throw new Error(`Give one configuration file, or set SLUICE_CONFIG.\n${usage}`);
  const { write, paint } = quietFor(values.json, surroundings);
  const { configuration, problems, findings } = await compileForCommand(file, surroundings, { keyFileProblem });
  if (configuration === null) {
    if (values.json)
      printJson(surroundings, {
        ...{ file, version: null, ok: false, problems: formatProblems(problems).split('\n') },
        ...{ findings: [], sources: [], models: [] },
      });
    write(
      `${paint.bad('✗')} ${file} has ${problems.length === 1 ? 'one mistake' : `${problems.length} mistakes`}:\n${formatProblems(problems)}\n`,
    );
    return 1;
  }
  const sources = await outsideSources(configuration, surroundings.environment);
  const silent = sources.filter(({ problem }) => problem !== null);
  const models = values.model
    ? await askModels(configuration, surroundings.environment.secret, configuration.limits.modelMs)
    : [];
  const unset = values.model ? [] : await unusableModels(configuration, surroundings.environment.secret);
  const away = findings.filter(({ kind }) => kind === 'missing_tools').length;
  const unknown = away === 0 ? '' : `, ${away === 1 ? 'a list' : `${away} lists`} of MCP tools without any`;
  const lacking = away > 0 || !allOffered(configuration);
  // Tools that change things and that no one is asked about.
  const unasked = findings.some(({ kind }) => kind === 'unasked');
  const refused =
    models.some(({ problem }) => problem !== null) ||
    (values.strict && (silent.length > 0 || unset.length > 0 || lacking || unasked));
  if (values.json)
    printJson(surroundings, {
      ...{ file, version: configuration.version, ok: !refused, problems: [], sources: silent },
      ...{
        findings: findings.length === 0 ? [] : formatFindings(findings).split('\n'),
        models: values.model ? models : unset,
      },
    });
  write(
    `${refused ? paint.bad('✗') : lacking ? paint.bad('!') : paint.good('✓')} ${file}: ${aboutTools(configuration)}${unknown}, version ${configuration.version}\n`,
  );
  for (const { where, problem } of silent) write(`${paint.bad('!')} ${where}: ${problem ?? ''}\n`);
  for (const { name, problem } of unset) write(`${paint.bad('!')} model ${name}: ${problem ?? ''}\n`);
  for (const { name, problem, ms } of models)
    write(
      problem === null
        ? `${paint.good('✓')} model ${name}: it answered in ${ms} ms\n`
        : `${paint.bad('!')} model ${name}: ${problem}\n`,
    );
  if (configuration.tools.some((tool) => tool.file !== undefined)) write(`${await aboutNetwork()}\n`);
  if (findings.length > 0) write(`${formatFindings(findings)}\n`);
  return refused ? 1 : 0;
}

/** Whether the system itself keeps tool files from a network here. */
async function aboutNetwork(): Promise<string> {
  const namespace = await networkNamespace();
  if (namespace.command !== null) return 'Tool files have network namespaces of their own here.';
  return `Tool files have no network namespaces here (${printable(namespace.why)}): Node alone closes their network.`;
}
