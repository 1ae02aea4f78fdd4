import { configurationKeys } from './keys.js';
import type { Section } from './section.js';
import type { DocumentSettings } from '@sluice/core';

/** `documents`: a folder of documents that every session may read. */
export function readDocuments(section: Section): { readonly documents?: DocumentSettings } {
  section.closed(configurationKeys.documents);
  const folder = section.text('folder', 'the path of a folder');
  return folder === null ? {} : { documents: { folder } };
}
