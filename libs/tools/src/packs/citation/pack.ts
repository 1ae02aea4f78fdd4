import { citeDocument } from './cite-document.js';
import { citeWeb } from './cite-web.js';
import { getCitation } from './get-citation.js';
import { listSources } from './list-sources.js';

/** Sources, and what was quoted of them (D-T23 to D-T26). */
export const citationTools = [citeDocument, citeWeb, listSources, getCitation] as const;
