import { assessGobdRelevance } from './tools/assess-gobd-relevance.js';
import { chunkDocument } from './tools/chunk-document.js';
import { extractDocumentText } from './tools/extract-document-text.js';
import { extractEntityMentions } from './tools/extract-entity-mentions.js';
import { identifyRequirementCandidates } from './tools/identify-requirement-candidates.js';

/** Documents and what is in them (D-T16 to D-T20). */
export const documentTools = [
  extractDocumentText,
  chunkDocument,
  identifyRequirementCandidates,
  assessGobdRelevance,
  extractEntityMentions,
] as const;
