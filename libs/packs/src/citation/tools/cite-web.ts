import { z } from 'zod';
import { defineCitationTool } from '../capability.js';
import { citeIn } from './cite.js';
import { citationFields, quoteArgs, show, shown } from './shape.js';

export const citeWeb = defineCitationTool({
  type: 'cite_web',
  description:
    'Cite a passage of a public web page, as evidence for what you state. ' +
    'The page is fetched now, within the rules of its robots.txt, and the quote refused if it does not stand there. Returns the id of the citation, ' +
    'with address, hash and place. Example: { "url": "https://example.org/rules", "quote": "Records are kept for ten years." }.',
  shortDescription: 'Cite a passage of a public web page word for word, as verified evidence for what you state.',
  category: 'citation',
  input: z.object({
    url: z.string().min(1).max(1_000).describe('Address of the page, https or http; HTML, text or PDF.'),
    ...quoteArgs,
  }),
  output: z.object(citationFields),
  effect: 'state_change',
  redaction: { fields: shown },
  capabilities: ['web', 'citations', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ url, ...asked }, _context, { web, citations, cancellation }) =>
    show(await citeIn(await web.page(url, cancellation.signal), 'web', asked, citations)),
});
