import { z } from 'zod';
import { defineTool } from '../contract.js';

const step = z.strictObject({
  tool: z.string().min(1).max(128).describe('The name of the tool that the step calls.'),
  arguments: z
    .string()
    .max(65_536)
    .optional()
    .describe('Its arguments, as JSON text. Leave them out where they need the results of steps before.'),
  after: z
    .array(z.int().min(1).max(100))
    .max(100)
    .optional()
    .describe('The numbers of the steps before it, from 1, whose results it needs.'),
  state: z.string().max(128).optional().describe('The state that the step leads to.'),
  why: z.string().min(1).max(1_000).describe('What the step is for, in a sentence.'),
});

/** Takes a run’s plan. Whether the plan can be walked is judged before it gets here, by the rules that every call is judged by. */
export const plan = defineTool({
  type: 'plan',
  description:
    'Takes your plan: the tool calls that the question needs, in order. Each runs only once the one before it has succeeded, and may change the state, ' +
    'which decides what may be called next. A plan that cannot be walked is refused with the reason. A question that needs no tool has a plan without steps.',
  input: z.object({ steps: z.array(step).max(100).describe('The steps, in the order in which they run.') }),
  output: z.string(),
  effect: 'read_only',
  redaction: { whole: true },
  capabilities: [],
  repeatable: true,
  requiresConnection: false,
  execute: ({ steps }) => {
    const lines = steps.map(({ tool, why }, index) => `${index + 1}. ${tool}: ${why}`);
    return Promise.resolve(
      [`The plan is taken. It has ${steps.length} step${steps.length === 1 ? '' : 's'}.`, ...lines].join('\n'),
    );
  },
});
