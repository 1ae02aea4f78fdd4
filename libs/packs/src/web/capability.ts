import { definingWith } from '@sluice/tools';
import type { WebAccess } from './web.js';

export interface WebCapability {
  readonly web: WebAccess;
}

export const defineWebTool = definingWith<WebCapability>({ web: true });
