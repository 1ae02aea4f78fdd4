import { definingWith } from '@sluice/tools';
import type { PropertyGraph } from './store.js';

export interface GraphCapability {
  /** The graph of requirements. */
  readonly graph: PropertyGraph;
}

export const defineGraphTool = definingWith<GraphCapability>({ graph: true });
