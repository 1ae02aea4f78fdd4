import { definingWith } from '@sluice/tools';
import type { RequirementCache } from './requirements.js';
import type { CitationCapability } from '../citation/capability.js';

export interface RequirementCapability {
  /** Those of the call’s tenant. */
  readonly requirements: RequirementCache;
}

/** Its tools take citations as sources. */
export const defineRequirementTool = definingWith<RequirementCapability & CitationCapability>({
  requirements: true,
  citations: true,
});
