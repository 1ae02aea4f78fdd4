import type { Topic } from '@sluice/contracts';

/** What a topic takes of one record, bytes, with its key, its headers and what frames them. */
export interface Limits {
  of(topic: Topic): number;
}

/** Where a log takes whatever is within the limits of this project. */
export const noLimits: Limits = { of: () => Infinity };
