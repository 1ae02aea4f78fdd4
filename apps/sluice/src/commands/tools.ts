import { parseArgs } from 'node:util';
import { compileEvaluator, documentedTools, wildcard } from '@sluice/core';
import { configurationOf } from '../system/compile-once.js';
import { builtInConfiguration } from '../system/built-in-tools.js';
import { writePages } from '../system/write-pages.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice tools docs DIR [--config FILE] [--group GROUP,…]
  Writes a page about each tool that the policy allows into DIR, with an index by category in README.md: the pages that
  an agent with deferred descriptions reads. Without a configuration they are about the built-in tools. Pages
  that an earlier call wrote, of tools that are not there any more, are removed.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { config: { type: 'string' }, group: { type: 'string' } },
  });
  const [what, folder, ...surplus] = positionals;
  if (what !== 'docs' || folder === undefined || surplus.length > 0)
    throw new Error(`Say where the pages go: sluice tools docs DIR.\n${usage}`);
  const configuration =
    values.config === undefined ? builtInConfiguration() : await configurationOf(values.config, surroundings);
  const groups = values.group?.split(',').filter((name) => name !== '') ?? [wildcard];
  const tools = documentedTools(compileEvaluator(configuration), { groups, toolIds: null, nested: false });
  const { written, removed } = await writePages(folder, tools);
  surroundings.write(`${written} pages in ${folder}${removed === 0 ? '' : `, ${removed} removed`}.\n`);
  return 0;
}
