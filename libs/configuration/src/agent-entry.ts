import { agentToolType, defaultAgent, strategyNames } from '@sluice/core';
import type { AgentSettings } from '@sluice/core';
import { configurationKeys } from './keys.js';
import { limitRanges } from './limits.js';
import type { Section } from './section.js';

/** Most of each number of `tool.<tool>.agent`; an answer has a default length, the budgets have none. */
export const agentRanges = {
  max_iterations: limitRanges.max_iterations,
  tokens: { byDefault: 1, most: 1_000_000_000 },
  answer_bytes: { byDefault: 4_000, most: limitRanges.result_bytes.most },
} as const;

/** Shorter than this nothing sensible is left of an answer that is cut. Bytes. */
export const leastAnswerBytes = 200;
const mostUsd = 1_000_000;

/** `tool.<tool>.agent`: how an agent works. Null for other types, where it may not be written. */
export function readAgent(entry: Section, type: string | null): AgentSettings | null {
  if (type !== agentToolType) {
    if (type !== null && entry.has('agent'))
      entry.problem(entry.at('agent'), 'a setting of agents', `\`type: ${agentToolType}\`, or leave it out`);
    return null;
  }
  const section = entry.section('agent').closed(configurationKeys['tool.<tool>.agent']);
  const groups = section.names('group', 'a list of group names, such as `["facts"]`');
  const agent = section.text('agent', 'the name of an entry under `agents`');
  if (groups === null && section.usable && !section.has('group') && agent === null)
    section.problem(section.at('group'), 'nothing', 'the groups whose tools the agent works with, or `[]` for none');
  const state = section.text('state', 'the state that the agent begins in, or leave it out');
  const number = (key: 'max_iterations' | 'tokens'): number | null =>
    section.has(key) ? section.wholeNumber(key, agentRanges[key]) : null;
  const strategy = section.choice('strategy', strategyNames);
  const model = section.text('model', 'a model of the list `model`, as `provider/name`');
  return {
    groups: groups ?? [],
    state,
    maxIterations: number('max_iterations'),
    tokens: number('tokens'),
    microUsd: readUsd(section, 'usd'),
    instructions: section.text('instructions', 'instructions for the agent, or leave it out'),
    answerBytes: readAnswerBytes(section),
    ...(strategy === null || strategy === 'react' ? {} : { strategy }),
    ...(model === null ? {} : { model }),
    ...(agent === null || agent === defaultAgent ? {} : { agent }),
  };
}

/** An amount in US dollars, in millionths; null where none is written. */
export function readUsd(
  section: Section,
  key: 'usd' | 'usd_per_run',
  what = `what a ${key === 'usd' ? 'call' : 'run'} may cost`,
): number | null {
  const value = section.value(key);
  if (value === null) return null;
  const micro = typeof value === 'number' ? Math.round(value * 1_000_000) : 0;
  if (micro >= 1 && micro <= mostUsd * 1_000_000) return micro;
  return section.refuse(key, `${what} in US dollars: a number from 0.000001 to ${String(mostUsd)}`);
}

function readAnswerBytes(section: Section): number {
  const bytes = section.wholeNumber('answer_bytes', agentRanges.answer_bytes);
  if (bytes >= leastAnswerBytes) return bytes;
  const write = `a whole number from ${String(leastAnswerBytes)} to ${String(agentRanges.answer_bytes.most)}`;
  section.refuse('answer_bytes', write);
  return bytes;
}
