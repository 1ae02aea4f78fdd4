import { parseArgs } from 'node:util';
import { compileEvaluator, documentedTools, wildcard } from '@sluice/core';
import type { Configuration, Verifier } from '@sluice/core';
import type { LogReader } from '@sluice/bus';
import { openBus, requireLog, verifierIfAny } from '@sluice/host';
import { compiledFrom, configurationsOn } from '@sluice/run';
import { offeredInRun } from '../offered-in-run.js';
import type { OfferedInRun } from '../offered-in-run.js';
import { configurationOf } from '../system/compile-once.js';
import { builtInConfiguration } from '../system/built-in-tools.js';
import { writePages } from '../system/write-pages.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice tools docs DIR [--config FILE] [--group GROUP,…] [--json]
  Writes a page about each tool that the policy allows into DIR, with an index by category in README.md: the pages that
  an agent with deferred descriptions reads. Without a configuration they are about the built-in tools. Pages
  that an earlier call wrote, of tools that are not there any more, are removed.
sluice tools --hash HASH [--config FILE | --request ID] [--json]
  What the tools take whose schema has this hash, as records on the log name them: each with the configuration, its
  description and its schema as JSON, a line each. From the configurations of the log, the newest first, or from FILE.
  Bounds of arguments give a schema a hash of its own, which depends on the caller: --request finds it among the tools
  that this run was offered. Exit code 1 if there is none. With --json docs prints {folder, written, removed}.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      group: { type: 'string' },
      hash: { type: 'string' },
      request: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const { hash, config: file, request } = values;
  if (hash !== undefined && positionals.length === 0 && values.group === undefined) {
    if (file !== undefined && request !== undefined)
      throw new Error(`A run names its configurations itself: leave --config or --request out.\n${usage}`);
    const quiet = quietFor(values.json, surroundings);
    return request === undefined ? specifications(hash, file, quiet) : specificationsOfRun(hash, request, quiet);
  }
  if (hash !== undefined) throw new Error(`Give --hash with --config or --request alone.\n${usage}`);
  if (request !== undefined) throw new Error(`--request goes with --hash.\n${usage}`);
  const [what, folder, ...surplus] = positionals;
  if (what !== 'docs' || folder === undefined || surplus.length > 0)
    throw new Error(`Say where the pages go: sluice tools docs DIR.\n${usage}`);
  const configuration =
    values.config === undefined ? builtInConfiguration() : await configurationOf(values.config, surroundings);
  const groups = values.group?.split(',').filter((name) => name !== '') ?? [wildcard];
  const tools = documentedTools(compileEvaluator(configuration), { groups, toolIds: null, depth: 0 });
  const { written, removed } = await writePages(folder, tools);
  if (values.json) printJson(surroundings, { folder, written, removed });
  else surroundings.write(`${written} pages in ${folder}${removed === 0 ? '' : `, ${removed} removed`}.\n`);
  return 0;
}

async function specifications(hash: string, file: string | undefined, surroundings: CommandContext): Promise<number> {
  const configurations =
    file === undefined ? await recorded(surroundings) : [await configurationOf(file, surroundings)];
  const found = configurations.flatMap(({ version, tools }) =>
    tools.filter(({ spec }) => spec?.schemaHash === hash).map((tool) => ({ version, tool })),
  );
  printSpecifications(found, surroundings);
  if (found.length === 0)
    surroundings.write(
      'No tool of these configurations has a schema of this hash. Where arguments are bounded, name a run that was offered the tool: --request ID.\n',
    );
  return found.length === 0 ? 1 : 0;
}

async function specificationsOfRun(hash: string, requestId: string, surroundings: CommandContext): Promise<number> {
  const { isKnown, tools, missing } = await onLog(surroundings, async (bus, verifier) =>
    offeredInRun(bus, requestId, hash, await configurationsOn(bus, verifier)),
  );
  printSpecifications(tools, surroundings);
  if (!isKnown) surroundings.write('The log has no run of this request_id that a filter has decided about.\n');
  else if (tools.length === 0) surroundings.write('No tool that this run was offered has a schema of this hash.\n');
  for (const version of missing)
    surroundings.write(
      `The run names the configuration ${version}, which this log has not, or which cannot be read.\n`,
    );
  return tools.length === 0 ? 1 : 0;
}

/** A tool that several of them have is printed once, as the first of them has it. */
function printSpecifications(found: OfferedInRun['tools'], { print }: CommandContext): void {
  const said = new Set<string>();
  for (const { version, tool: known } of found) {
    const { id, key, spec } = known;
    if (spec === null) continue;
    const { description, effect, schemaHash, inputSchema } = spec;
    const tool = { id, key, description, effect, schema_hash: schemaHash, input_schema: inputSchema };
    const text = JSON.stringify(tool);
    if (said.has(text)) continue;
    said.add(text);
    print(`${JSON.stringify({ config_version: version, ...tool })}\n`);
  }
}

/** The configurations of the log that can be read, the newest first. */
function recorded(surroundings: CommandContext): Promise<readonly Configuration[]> {
  return onLog(surroundings, async (bus, verifier) => {
    const all = await configurationsOn(bus, verifier);
    return all.toReversed().flatMap((one) => {
      try {
        return [compiledFrom(one.read()).configuration];
      } catch {
        return [];
      }
    });
  });
}

async function onLog<T>(
  { environment, log }: CommandContext,
  read: (bus: LogReader, verifier: Verifier) => Promise<T>,
): Promise<T> {
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    return await read(bus, verifierIfAny(environment));
  } finally {
    await bus.close();
  }
}
