import { parseArgs } from 'node:util';
import { compileEvaluator, documentedTools, wildcard } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { openBus, requireLog, verifierIfAny } from '@sluice/host';
import { compiledFrom, configurationsOn } from '@sluice/run';
import { configurationOf } from '../system/compile-once.js';
import { builtInConfiguration } from '../system/built-in-tools.js';
import { writePages } from '../system/write-pages.js';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice tools docs DIR [--config FILE] [--group GROUP,…] [--json]
  Writes a page about each tool that the policy allows into DIR, with an index by category in README.md: the pages that
  an agent with deferred descriptions reads. Without a configuration they are about the built-in tools. Pages
  that an earlier call wrote, of tools that are not there any more, are removed.
sluice tools --hash HASH [--config FILE] [--json]
  What the tools take whose schema has this hash, as records on the log name them: each with the configuration, its
  description and its schema as JSON, a line each. From the configurations of the log, the newest first, or from FILE.
  Exit code 1 if there is none. With --json docs prints {folder, written, removed}.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      group: { type: 'string' },
      hash: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.hash !== undefined && positionals.length === 0 && values.group === undefined)
    return specifications(values.hash, values.config, quietFor(values.json, surroundings));
  if (values.hash !== undefined) throw new Error(`Give --hash with --config alone.\n${usage}`);
  const [what, folder, ...surplus] = positionals;
  if (what !== 'docs' || folder === undefined || surplus.length > 0)
    throw new Error(`Say where the pages go: sluice tools docs DIR.\n${usage}`);
  const configuration =
    values.config === undefined ? builtInConfiguration() : await configurationOf(values.config, surroundings);
  const groups = values.group?.split(',').filter((name) => name !== '') ?? [wildcard];
  const tools = documentedTools(compileEvaluator(configuration), { groups, toolIds: null, nested: false });
  const { written, removed } = await writePages(folder, tools);
  if (values.json) printJson(surroundings, { folder, written, removed });
  else surroundings.write(`${written} pages in ${folder}${removed === 0 ? '' : `, ${removed} removed`}.\n`);
  return 0;
}

async function specifications(hash: string, file: string | undefined, surroundings: CommandContext): Promise<number> {
  const configurations =
    file === undefined ? await recorded(surroundings) : [await configurationOf(file, surroundings)];
  const said = new Set<string>();
  for (const { version, tools } of configurations)
    for (const { id, key, spec } of tools) {
      if (spec?.schemaHash !== hash) continue;
      const { description, effect, inputSchema } = spec;
      const tool = { id, key, description, effect, schema_hash: hash, input_schema: inputSchema };
      // A tool that many versions have is said once, by the newest of them.
      const text = JSON.stringify(tool);
      if (said.has(text)) continue;
      said.add(text);
      surroundings.print(`${JSON.stringify({ config_version: version, ...tool })}\n`);
    }
  if (said.size === 0) surroundings.write('No tool of these configurations has a schema of this hash.\n');
  return said.size === 0 ? 1 : 0;
}

/** The configurations of the log that can be read, the newest first. */
async function recorded({ environment, log }: CommandContext): Promise<readonly Configuration[]> {
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const all = await configurationsOn(bus, verifierIfAny(environment));
    return all.toReversed().flatMap((one) => {
      try {
        return [compiledFrom(one.read()).configuration];
      } catch {
        return [];
      }
    });
  } finally {
    await bus.close();
  }
}
