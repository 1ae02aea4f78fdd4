import { z } from 'zod';
import { defineTool } from '@sluice/tools';

export const textCompletion = defineTool({
  type: 'text-completion',
  description:
    'Write, summarise, translate or explain: continues a prompt with the configured language model, without any tools.',
  shortDescription:
    'Have a language model write, summarise, translate or explain a text for you, without any tools of its own.',
  input: z.object({
    prompt: z
      .string()
      .min(1)
      .describe('What to write, with everything the text needs: nothing else of the conversation is seen.'),
  }),
  output: z.object({ text: z.string() }),
  effect: 'read_only',
  redaction: { fields: ['text'] },
  capabilities: ['text', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ prompt }, _context, { text, cancellation }) => ({
    text: await text.complete(prompt, cancellation.signal),
  }),
});
