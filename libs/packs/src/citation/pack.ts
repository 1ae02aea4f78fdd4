import { citeDocument } from './tools/cite-document.js';
import { citeWeb } from './tools/cite-web.js';
import { getCitation } from './tools/get-citation.js';
import { listSources } from './tools/list-sources.js';

/** Sources, and what was quoted of them (D-T23 to D-T26). */
export const citationTools = [citeDocument, citeWeb, listSources, getCitation] as const;
