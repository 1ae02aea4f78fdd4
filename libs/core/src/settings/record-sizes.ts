import { longestMessage } from '../tool/refusals.js';

/** The largest payload of one record, in bytes: a broker's default limit with room for key and headers. */
export const largestRecord = 1_000_000;

/** UTF-8 bytes of what a model says beside its calls; the rest is cut. */
export const largestThought = 16_384;

/** UTF-8 bytes of the longest message that a refused call ends with. */
export const largestMessage = 3 * (longestMessage + 1);
