import type { Configuration } from '@sluice/core';
import type { Recorded } from '../configurations.js';
import type { DecisionSelection } from '../select.js';

/** What a thread has to do, as data that goes to it. */
export type ReplayJob = { readonly selection: DecisionSelection; readonly configurations: Recorded } & (
  { readonly kind: 'replay' } | { readonly kind: 'what-if'; readonly candidate: Configuration }
);
