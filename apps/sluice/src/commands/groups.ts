import { parseArgs } from 'node:util';
import { compileEvaluator, listGroups, listStates, stateDiagram, wildcard } from '@sluice/core';
import type { ListedGroup, ListedState } from '@sluice/core';
import { configurationOf } from '../system/compile-once.js';
import { outsideFacts, outsideRuns } from '../system/outside-runs.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice groups --config FILE [--permitted GROUP,…] [--json]
  Lists the groups of a configuration with the tools that the policy allows and no rule closes at present: their effects, states
  and where they lead, and what rules go by that only a run has; as a caller who may ask for these groups sees them, or one who
  may ask for all.
sluice groups --config FILE --states [--permitted GROUP,…] [--json | --mermaid]
  Lists the states instead, with the tools that are available in each; as a Mermaid state diagram with --mermaid.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      permitted: { type: 'string' },
      states: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      mermaid: { type: 'boolean', default: false },
    },
  });
  if (values.config === undefined) throw new Error(`Name the configuration with --config FILE.\n${usage}`);
  if (values.mermaid && (!values.states || values.json))
    throw new Error(`Give --mermaid with --states, and not with --json.\n${usage}`);
  const configuration = await configurationOf(values.config, surroundings);
  const evaluator = compileEvaluator(configuration);
  const permitted = values.permitted?.split(',').filter((name) => name !== '') ?? [wildcard];
  const facts = outsideFacts('', evaluator, Date.now());
  const known = { facts, unknown: [...outsideRuns(configuration), 'question' as const] };
  const { print } = surroundings;
  if (values.states) {
    const states = listStates(evaluator, permitted, known);
    if (values.mermaid) print(stateDiagram(states));
    else print(values.json ? `${JSON.stringify({ states })}\n` : statesAsText(states));
    return 0;
  }
  const groups = listGroups(evaluator, permitted, known);
  print(values.json ? `${JSON.stringify({ groups })}\n` : groupsAsText(groups));
  return 0;
}

function groupsAsText(groups: readonly ListedGroup[]): string {
  if (groups.length === 0) return 'No group of this configuration is permitted.\n';
  return groups
    .map(({ name, tools }) => {
      const lines = tools.map(({ key, effect, available_in_states: states, state, depends_on: open = [] }) => {
        const where = states.includes(wildcard) ? 'in every state' : `in ${states.join(', ')}`;
        return `  ${key}  (${effect ?? 'unknown effect'}, ${where}${state === null ? '' : `, leads to ${state}`}${open.length === 0 ? '' : `; rules: by ${open.join(', ')}`})\n`;
      });
      return `${name}\n${lines.length === 0 ? '  no tool that the policy allows and no rule closes now\n' : lines.join('')}`;
    })
    .join('');
}

function statesAsText(states: readonly ListedState[]): string {
  return states
    .map(({ name, tools, transitions }) => {
      const lines = tools.map((key) => {
        const next = Object.hasOwn(transitions, key) ? ` → ${transitions[key] ?? ''}` : '';
        return `  ${key}${next}\n`;
      });
      return `${name}\n${lines.length === 0 ? '  no tool\n' : lines.join('')}`;
    })
    .join('');
}
