import { z } from 'zod';
import { defineCitationTool } from '../capability.js';
import { partOf } from '../../part-of.js';
import { source } from './shape.js';

export const listSources = defineCitationTool({
  type: 'list_sources',
  description:
    'List the documents and web pages that were cited, each once. ' +
    'They come in the order in which they were first cited; a document whose content has changed is another source. Example: { "from": 0 }.',
  shortDescription:
    'List the documents and web pages that were cited so far, each once, to see what the evidence rests on.',
  category: 'citation',
  input: z.object({
    from: z.int().min(0).default(0).describe('How many sources to leave out at the beginning.'),
  }),
  output: z.object({ sources: z.array(source), total: z.int(), next: z.int().optional() }),
  effect: 'read_only',
  redaction: { fields: ['sources', 'total', 'next'] },
  capabilities: ['citations'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ from }, _context, { citations }) => {
    const { sources, total } = await citations.sources(from, 50);
    const { items } = partOf(sources, 0, 50);
    const next = from + items.length;
    return { sources: items.map((each) => ({ ...each })), total, ...(next < total ? { next } : {}) };
  },
});
