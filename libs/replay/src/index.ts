export { replay } from './replay.js';
export type { ReplayOptions } from './replay.js';
export { everything } from './select.js';
export type { DecisionSelection, Offsets } from './select.js';
export { decisionKinds } from './outcome.js';
export type { DecisionKind, Outcome, Replayed } from './outcome.js';
export { differences } from './differences.js';
export type { Difference } from './differences.js';
