import type { JsonObject, PageStart } from '@sluice/core';
import { definingWith } from '@sluice/tools';

export interface ResultCapability {
  /** Results of the call’s run that are longer than a page. */
  readonly results: {
    /** Throws ToolUserError where the run has no such content, or that no such place. */
    page(content: string, start: PageStart): Promise<JsonObject>;
  };
}

export const defineResultTool = definingWith<ResultCapability>({ results: true });
