import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

const step = z.strictObject({
  tool: z.string().min(1).max(128).describe('The name of the tool that the step calls.'),
  arguments: z
    .string()
    .max(65_536)
    .optional()
    .describe(
      'Its arguments, as JSON text. A value in them may be the result of a step before it: {"$step": 1} for the whole, {"$step": 1, "path": "/name"} for a part. ' +
        'Leave the arguments out where they are otherwise made from results: you are asked for them when the step’s turn comes.',
    ),
  after: z
    .array(z.int().min(1).max(100))
    .max(100)
    .optional()
    .describe('The numbers of the steps before it, from 1, whose results it needs.'),
  state: z.string().max(128).optional().describe('The state that the step leads to.'),
  why: z.string().min(1).max(1_000).describe('What the step is for, in a sentence.'),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('How sure its result has to be, from 0 to 1. Leave it out for the usual.'),
  retries: z
    .int()
    .min(0)
    .max(5)
    .optional()
    .describe('Further attempts where its result is not sure enough. Leave it out for the usual.'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(3_600)
    .optional()
    .describe('How long one attempt may take. Leave it out for the usual.'),
});

const review = z.strictObject({
  decision: z
    .enum(['accept', 'replan', 'stop'])
    .optional()
    .describe('Whether the plan goes on with the result, another plan is made, or no more steps are.'),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('How far the result does what its step is for, from 0 to 1.'),
  step: z.int().min(1).max(100).optional().describe('The number of the step.'),
  why: z.string().min(1).max(1_000).describe('Why, in a sentence.'),
});

/**
 * Takes a run’s plan. Whether the plan can be walked is judged before it gets here, by the rules that every call is
 * judged by.
 */
export const plan = defineTool({
  type: 'plan',
  description:
    'Takes your plan: the tool calls that the question needs, in order. Each runs only once the one before it has succeeded, and may change the state, ' +
    'which decides what may be called next. A plan that cannot be walked is refused with the reason. ' +
    'Where an argument is the result of a step before, write {"$step": N} or {"$step": N, "path": "/name"} in its place, and no other form: nothing else is filled in. A question that needs no tool has a plan without steps.',
  input: z.object({
    steps: z.array(step).max(100).optional().describe('The steps, in the order in which they run.'),
    review: review
      .optional()
      .describe('Instead of steps: what you say of a step’s result, where you are asked for that.'),
  }),
  output: z.string(),
  effect: 'read_only',
  redaction: { whole: true },
  capabilities: [],
  repeatable: true,
  requiresConnection: false,
  execute: ({ steps, review: said }) => {
    if ((steps === undefined) === (said === undefined))
      throw new ToolUserError('Give either the steps of a plan, or a review where one is asked for.');
    if (said !== undefined) return Promise.resolve(`The review is taken. ${said.why}`);
    const planned = steps ?? [];
    const lines = planned.map(({ tool, why }, index) => `${index + 1}. ${tool}: ${why}`);
    return Promise.resolve(
      [`The plan is taken. It has ${planned.length} step${planned.length === 1 ? '' : 's'}.`, ...lines].join('\n'),
    );
  },
});
