import { z } from 'zod';
import { defineWebTool } from '../../web/capability.js';
import { partOf } from '../../part-of.js';

export const webSearch = defineWebTool({
  type: 'web_search',
  description:
    'Search the web for pages about a question. ' +
    'Returns title, address and a passage of each page; read and quote one with cite_web before you rely on it. The service is the one that the ' +
    'configuration names. Example: { "query": "GoBD retention period invoices", "count": 5 }.',
  shortDescription:
    'Search the web for pages about a question, when neither the documents nor the workspace answer it.',
  category: 'search',
  input: z.object({
    query: z.string().min(2).max(400).describe('What to search for, in a few words.'),
    count: z.int().min(1).max(20).default(5).describe('How many pages at most, from 1 to 20.'),
  }),
  output: z.object({
    results: z.array(
      z.object({ title: z.string(), url: z.string(), text: z.string(), published: z.string().optional() }),
    ),
  }),
  effect: 'read_only',
  redaction: { fields: ['results'] },
  capabilities: ['web', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ query, count }, _context, { web, cancellation }) => ({
    results: partOf(await web.search({ query, count }, cancellation.signal), 0, count).items.map((each) => ({
      ...each,
    })),
  }),
});
