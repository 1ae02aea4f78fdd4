import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

export const markComplete = defineTool({
  type: 'mark_complete',
  description:
    'Signal that the task is complete, and give the final answer. Nothing is done after it: call it alone, or last, and only when ' +
    'everything the question asks for has been done. Example: { "summary": "Both reports are written." }.',
  shortDescription:
    'Signal that the whole task is done and give the final answer. Call it last, since nothing runs afterwards.',
  category: 'completion',
  input: z.object({
    summary: z.string().min(1).max(6_000).describe('The answer to the question, as its sender shall read it.'),
  }),
  output: z.string(),
  effect: 'read_only',
  redaction: { whole: true },
  capabilities: [],
  repeatable: true,
  requiresConnection: false,
  execute: ({ summary }) => {
    const answer = summary.trim();
    if (answer === '') throw new ToolUserError('The summary is empty. Write the answer to the question there.');
    return Promise.resolve(answer);
  },
});
