import { definingWith } from '@sluice/tools';
import type { DocumentReader } from './document.js';

export interface DocumentCapability {
  /** The documents that the call’s session may read. */
  readonly documents: DocumentReader;
}

export const defineDocumentTool = definingWith<DocumentCapability>({ documents: true });
