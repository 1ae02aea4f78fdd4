import { z } from 'zod';
import { ToolUserError } from '@sluice/core';
import { chunksOf } from '../chunks.js';
import { tokenCounter } from '../tokens.js';
import { defineDocumentTool } from '../capability.js';
import { partOf } from '../../part-of.js';
import { documentPath, from, passage } from './shape.js';

export const chunkDocument = defineDocumentTool({
  type: 'chunk_document',
  description:
    'Split a document into chunks of a given number of tokens, to read a long one piece by piece. ' +
    'By structure, sections, paragraphs and sentences stay whole where they fit; by tokens, each chunk is filled. With overlap, a chunk begins with ' +
    'the end of the one before; overlap in the result counts those characters. Example: { "path": "contract.pdf", "size": 800, "overlap": 80 }.',
  shortDescription:
    'Split a long document into chunks of a given number of tokens, to read and work on it piece by piece.',
  category: 'document',
  input: z.object({
    path: documentPath,
    by: z.enum(['structure', 'tokens']).default('structure').describe('Where to divide: structure or tokens.'),
    size: z.int().min(20).max(4_000).default(800).describe('Tokens of a chunk at most, from 20 to 4000.'),
    overlap: z
      .int()
      .min(0)
      .max(1_000)
      .default(0)
      .describe('Tokens that a chunk shares with the one before; at most half of size.'),
    from,
  }),
  output: z.object({
    chunks: z.array(z.object({ index: z.int(), ...passage, text: z.string(), tokens: z.int(), overlap: z.int() })),
    total: z.int(),
    next: z.int().optional(),
    sha256: z.string(),
  }),
  effect: 'read_only',
  redaction: { fields: ['chunks', 'total', 'next', 'sha256'] },
  capabilities: ['documents', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, by, size, overlap, from: first }, _context, { documents, cancellation }) => {
    if (overlap > size / 2)
      throw new ToolUserError(`An overlap of ${overlap} is more than half of ${size}. Give a smaller one.`);
    const document = await documents.read(path, cancellation.signal);
    const chunks = chunksOf(document, { by, size, overlap }, await tokenCounter());
    const { items, next } = partOf(chunks, first);
    return { chunks: items, total: chunks.length, ...(next === undefined ? {} : { next }), sha256: document.sha256 };
  },
});
