import { ruleFactNames } from '@sluice/core';
import { ref } from './record-schemas.js';
import type { JsonSchema } from './json-schema.js';

/** What schemas of answers are put together from. */

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
export const whole = (description: string): JsonSchema => ({ type: 'integer', description });
export const time = (description: string): JsonSchema => whole(`${description} Milliseconds since the epoch.`);
export const timeOrNull = (description: string): JsonSchema => ({
  ...time(description),
  type: ['integer', 'null'],
});
export const countOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });
export const numberOrNull = (description: string): JsonSchema => ({ type: ['number', 'null'], description });
export const list = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
export const described = (name: string, description: string): JsonSchema => ({ ...ref(name), description });

/** An object with all these members; those of `some` may be missing. */
export function object(
  description: string,
  all: Readonly<Record<string, JsonSchema>>,
  some: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return { type: 'object', description, properties: { ...all, ...some }, required: Object.keys(all) };
}

export const ids = { request_id: text('Names the run.'), session_id: text('The session of the run.') };
export const version = { config_version: text('The version of the configuration that decided.') };

export const open = {
  depends_on: list(
    { enum: [...ruleFactNames], description: 'A fact that a run has.' },
    'What rules about it ask for and only a run has; absent where all of it is known.',
  ),
};

export const warned = { warnings: list(ref('RequestWarning'), 'Absent where there is nothing to warn of.') };
export const tools = list(text('The key of a tool.'), 'The tools that are available in it.');
export const isSo = (description: string): JsonSchema => ({ type: 'boolean', description });
