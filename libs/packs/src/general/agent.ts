import { z } from 'zod';
import { ToolUnavailableError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

/**
 * What an agent takes and gives. Its effect is worked out when a configuration is compiled, from the tools that it
 * may be offered.
 */
export const agent = defineTool({
  type: 'agent',
  description: 'Hands a question to an agent that works on it by itself, with tools of its own, and gives its answer.',
  shortDescription:
    'Hand a self-contained question to another agent that works on it with tools of its own, and get back only its answer.',
  input: z.object({
    question: z
      .string()
      .min(1)
      .describe(
        'What to find out or do, with everything the agent has to know: it sees nothing else of this conversation.',
      ),
  }),
  output: z.string(),
  effect: 'external_side_effect',
  redaction: { whole: true },
  capabilities: [],
  repeatable: false,
  requiresConnection: false,
  // The pipeline hands its calls over before it comes to this.
  execute: () => Promise.reject(new ToolUnavailableError('An agent runs on the loop, and not here.')),
});
