// Slow: from half a second to three, the same for the same words.
import { setTimeout } from 'node:timers/promises';

export default ({ defineTool, z }) =>
  defineTool({
    type: 'search_archive',
    description: 'Search the archive for words. Example: { "words": "invoice 12" }.',
    input: z.object({ words: z.string().min(1).max(200).describe('The words to search for, in quotation marks.') }),
    output: z.object({ pages: z.number().int() }),
    effect: 'read_only',
    redaction: { fields: ['pages'] },
    capabilities: ['cancellation', 'progress'],
    repeatable: true,
    requiresConnection: false,
    execute: async ({ words }, _context, { cancellation, progress }) => {
      const sum = [...words].reduce((total, letter) => total + letter.codePointAt(0), 0);
      progress.report('The shelves are being searched.');
      await setTimeout(500 + (sum % 26) * 100, undefined, { signal: cancellation.signal });
      return { pages: sum % 40 };
    },
  });
