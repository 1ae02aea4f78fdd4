import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { findQuote } from '../quote.js';
import { passageAt } from '../../document/document.js';
import { defineCitationTool } from '../capability.js';
import { passage } from '../../document/tools/shape.js';
import { citationFields, show, shown } from './shape.js';

export const getCitation = defineCitationTool({
  type: 'get_citation',
  description:
    'Get a citation by its id: source, quote, place and claim. ' +
    'With check, the source is read again and found says whether the quote still stands there: unchanged if the source is the very same, moved (with ' +
    'place_now) if the source changed and still holds it, missing if it does not, unreadable if the source is gone. Example: { "id": "C-0001", "check": true }.',
  shortDescription:
    'Get the source, quote, place and claim of a citation by its id, or check that the quote still stands there.',
  category: 'citation',
  input: z.object({
    id: z.string().min(1).max(20).describe('The id of the citation, such as C-0001.'),
    check: z.boolean().default(false).describe('True to look for the quote in the source as it is now.'),
  }),
  output: z.object({
    ...citationFields,
    found: z.enum(['unchanged', 'moved', 'missing', 'unreadable']).optional(),
    place_now: z.object(passage).optional(),
    why: z.string().optional(),
  }),
  effect: 'read_only',
  redaction: { fields: [...shown, 'found', 'place_now', 'why'] },
  capabilities: ['citations', 'documents', 'web', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ id, check }, _context, { citations, documents, web, cancellation }) => {
    const citation = await citations.get(id);
    if (!check) return show(citation);
    const { source, quote, place } = citation;
    const read = source.kind === 'document' ? documents.read.bind(documents) : web.page.bind(web);
    try {
      const now = await read(source.location, cancellation.signal);
      if (now.sha256 === source.sha256) return { ...show(citation), found: 'unchanged' as const };
      const again = findQuote(now.text, quote);
      if (again === null) return { ...show(citation), found: 'missing' as const };
      const isThere = now.text.slice(place.start, place.end) === quote;
      const { start, end } = isThere ? place : again;
      return { ...show(citation), found: 'moved' as const, place_now: { ...passageAt(now, start, end) } };
    } catch (error) {
      if (!(error instanceof ToolUserError)) throw error;
      return { ...show(citation), found: 'unreadable' as const, why: error.message };
    }
  },
});
