import { z } from 'zod';

export const documentPath = z
  .string()
  .min(1)
  .max(200)
  .describe(
    'Path of the document, PDF, DOCX, HTML or text: a file of the workspace, or of the folder of documents for all.',
  );

/** Where a passage stands. */
export const passage = {
  start: z.int(),
  end: z.int(),
  page: z.int().optional(),
  section: z.string().optional(),
};

export const from = z.int().min(0).default(0).describe('Which one to begin at: 0, or the next of the part before.');
