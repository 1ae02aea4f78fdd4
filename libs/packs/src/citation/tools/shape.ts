import { z } from 'zod';
import type { Citation } from '../citations.js';
import { passage } from '../../document/tools/shape.js';

export const source = z.object({
  id: z.string(),
  kind: z.enum(['document', 'web']),
  location: z.string(),
  sha256: z.string(),
  since: z.string(),
});

/** A citation as the tools show it. */
export const citationFields = {
  id: z.string(),
  source,
  quote: z.string(),
  place: z.object(passage),
  match: z.enum(['exact', 'typography']),
  claim: z.string(),
  cited_at: z.string(),
};

export const shown = Object.keys(citationFields);

export function show({
  id,
  source: from,
  quote,
  place,
  match,
  claim,
  citedAt,
}: Citation): z.output<z.ZodObject<typeof citationFields>> {
  return { id, source: { ...from }, quote, place: { ...place }, match, claim, cited_at: citedAt };
}

export const quoteArgs = {
  quote: z.string().min(8).max(2_000).describe('The quoted text, word by word, from 8 to 2000 characters.'),
  claim: z.string().max(500).default('').describe('What the quote is evidence of, in a sentence.'),
  occurrence: z.int().min(1).max(1_000).default(1).describe('Which one, where the text stands there several times.'),
};
