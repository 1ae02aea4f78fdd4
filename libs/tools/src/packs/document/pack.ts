import { assessGobdRelevance } from './assess-gobd-relevance.js';
import { chunkDocument } from './chunk-document.js';
import { extractDocumentText } from './extract-document-text.js';
import { extractEntityMentions } from './extract-entity-mentions.js';
import { identifyRequirementCandidates } from './identify-requirement-candidates.js';

/** Documents and what is in them (D-T16 to D-T20). */
export const documentTools = [
  extractDocumentText,
  chunkDocument,
  identifyRequirementCandidates,
  assessGobdRelevance,
  extractEntityMentions,
] as const;
