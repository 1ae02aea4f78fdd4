import { configurationKeys } from './keys.js';
import { describe } from './problems.js';
import type { Section } from './section.js';
import type { Configuration } from '@sluice/core';

const runs = { byDefault: 5, most: 20 } as const;
const tokens = { byDefault: 2_000, most: 16_000 } as const;

/** `agents.default.memory`: which earlier runs of a session the model is shown; without it none. */
export function readMemory(agent: Section): Pick<Configuration, 'memory'> {
  const value = agent.value('memory');
  if (value === null || value === 'none') return {};
  if (value === 'summary') return { memory: { kind: 'summary', runs: runs.most, tokens: tokens.byDefault } };
  if (typeof value !== 'object' || Array.isArray(value)) {
    agent.problem(agent.at('memory'), describe(value), '`none`, `summary`, or a map such as `{ last: 5 }`');
    return {};
  }
  const section = agent.section('memory').closed(configurationKeys['agents.default.memory']);
  return {
    memory: {
      kind: 'last',
      runs: section.wholeNumber('last', runs),
      tokens: section.wholeNumber('tokens', tokens),
    },
  };
}
