import { parseArgs } from 'node:util';
import { compileEvaluator, wildcard } from '@sluice/core';
import { noteOn, recommendGroups } from '@sluice/discovery';
import type { RecommendedGroup } from '@sluice/discovery';
import { configurationOf } from '../system/compile-once.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice recommend --config FILE [--permitted GROUP,…] [--json] QUESTION
  Says which groups of a configuration suit a question, best first, with their scores, the tools they come from and the
  words that match; of those that a caller who may ask for these groups may ask for, or of all.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      permitted: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [question = '', ...surplus] = positionals;
  if (values.config === undefined || question.trim() === '' || surplus.length > 0)
    throw new Error(`Name the configuration with --config FILE, and ask one question in quotes.\n${usage}`);
  const configuration = await configurationOf(values.config, surroundings);
  const permitted = values.permitted?.split(',').filter((name) => name !== '') ?? [wildcard];
  const groups = recommendGroups(compileEvaluator(configuration), permitted, question);
  surroundings.print(values.json ? `${JSON.stringify({ groups, note: noteOn(groups) })}\n` : inWords(groups));
  return 0;
}

function inWords(groups: readonly RecommendedGroup[]): string {
  const note = noteOn(groups);
  if (note !== null) return `${note}\n`;
  return groups
    .map(({ name, score, tools }) => {
      const lines = tools.map((tool) => `  ${tool.key}  ${tool.score.toFixed(2)}  ${tool.words.join(', ')}\n`);
      return `${name}  ${score.toFixed(2)}\n${lines.join('')}`;
    })
    .join('');
}
