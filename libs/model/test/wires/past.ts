import type { ModelTool } from '@sluice/core';
import { stepOf } from '../requests.js';

export const offered: readonly ModelTool[] = [
  {
    id: 'core__find',
    description: 'Finds things',
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  },
  { id: 'mcp__s__note', description: 'Notes', inputSchema: { type: 'object', properties: {} } },
];

/**
 * Two turns: one of two calls, of which one failed for its arguments; then one of a name that no wire takes, with an
 * id used before.
 */
export const past = [
  stepOf({
    toolId: 'core__find',
    thought: 'Both.',
    arguments: '{"name":"a"}',
    observation: '{"found":1}',
    toolCallId: 'one',
    iteration: 0,
    index: 0,
  }),
  stepOf({
    toolId: 'mcp__s__note',
    thought: 'Both.',
    arguments: 'not json',
    observation: 'The arguments are not JSON.',
    outcome: 'invalid_json',
    toolCallId: 'two',
    iteration: 0,
    index: 1,
  }),
  stepOf({
    toolId: 'made up!',
    arguments: '[1]',
    observation: '',
    outcome: 'unavailable',
    toolCallId: 'one',
    iteration: 1,
    index: 0,
  }),
];
