import { definingWith } from '@sluice/tools';
import type { Citations } from './citations.js';
import type { DocumentCapability } from '../document/capability.js';
import type { WebCapability } from '../web/capability.js';

export interface CitationCapability {
  /** Those of the call’s user. */
  readonly citations: Citations;
}

/** Its tools cite documents and pages. */
export const defineCitationTool = definingWith<CitationCapability & DocumentCapability & WebCapability>({
  citations: true,
  documents: true,
  web: true,
});
