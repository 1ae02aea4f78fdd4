import { z } from 'zod';
import { defineCitationTool } from '../capability.js';
import { documentPath } from '../../document/tools/shape.js';
import { citeIn } from './cite.js';
import { citationFields, quoteArgs, show, shown } from './shape.js';

export const citeDocument = defineCitationTool({
  type: 'cite_document',
  description:
    'Cite a passage of a document, as evidence for what you state. ' +
    'The quote is looked for in the document and refused if it does not stand there; white space and typography may differ. Returns the id of the ' +
    'citation, with the hash of the document and the place. Example: { "path": "contract.pdf", "quote": "Invoices must be kept for ten years." }.',
  shortDescription: 'Cite a passage of a document word for word, as verified evidence for what you state.',
  category: 'citation',
  input: z.object({ path: documentPath, ...quoteArgs }),
  output: z.object(citationFields),
  effect: 'state_change',
  redaction: { fields: shown },
  capabilities: ['documents', 'citations', 'cancellation'],
  repeatable: true,
  requiresConnection: false,
  execute: async ({ path, ...asked }, _context, { documents, citations, cancellation }) =>
    show(await citeIn(await documents.read(path, cancellation.signal), 'document', asked, citations)),
});
