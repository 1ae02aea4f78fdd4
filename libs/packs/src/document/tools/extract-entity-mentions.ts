import { z } from 'zod';
import { entityKinds, mentionsOf } from '../entities.js';
import { defineDocumentTool } from '../capability.js';
import { partOf } from '../../part-of.js';
import { documentPath, from, passage } from './shape.js';

export const extractEntityMentions = defineDocumentTool({
  type: 'extract_entity_mentions',
  description:
    'Find what a document mentions: business objects, messages, roles, systems, laws, identifiers, dates, durations and amounts. ' +
    'Returns each once with how often and where first, the most frequent first. Names that you give as business_objects or messages are found as ' +
    'well; resolve_business_object and resolve_message match them with the graph. Example: { "path": "contract.pdf", "kinds": ["business_object"] }.',
  shortDescription:
    'Find the business objects, messages, roles, systems, laws, dates and amounts that a document mentions.',
  category: 'document',
  input: z.object({
    path: documentPath,
    kinds: z.array(z.enum(entityKinds)).max(entityKinds.length).optional().describe('Only these kinds; left out, all.'),
    business_objects: z
      .array(z.string().min(2).max(100))
      .max(100)
      .default([])
      .describe('Names of business objects to look for.'),
    messages: z.array(z.string().min(2).max(100)).max(100).default([]).describe('Names of messages to look for.'),
    from,
  }),
  output: z.object({
    mentions: z.array(
      z.object({ name: z.string(), kind: z.enum(entityKinds), count: z.int(), first: z.object(passage) }),
    ),
    total: z.int(),
    next: z.int().optional(),
  }),
  effect: 'read_only',
  redaction: { fields: ['mentions', 'total', 'next'] },
  capabilities: ['documents', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, kinds, business_objects, messages, from: first }, _context, { documents, cancellation }) => {
    const document = await documents.read(path, cancellation.signal);
    const known = [
      ...business_objects.map((name) => ({ name, kind: 'business_object' as const })),
      ...messages.map((name) => ({ name, kind: 'message' as const })),
    ];
    const all = mentionsOf(document, known).filter(({ kind }) => kinds === undefined || kinds.includes(kind));
    const { items, next } = partOf(all, first);
    return { mentions: items, total: all.length, ...(next === undefined ? {} : { next }) };
  },
});
