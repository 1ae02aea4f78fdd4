export type { Counts } from './approvals.js';
export { listedKinds } from './audit-entries.js';
export { catchUp, follow } from './follow.js';
export type { Costs } from './follow.js';
export { Projection } from './projection.js';
export type {
  ApprovalCursor,
  DecidedApproval,
  AuditCursor,
  AuditFilter,
  LetterCursor,
  LetterListFilter,
  ListedEntry,
  ListedLetter,
  ListedRun,
  RunCursor,
  RunFilter,
  Viewer,
  WaitingApproval,
} from './types.js';
export { dayOf, durationIn, usageDimensions } from './usage.js';
export type { CallTimes, Usage, UsageDimension } from './usage.js';
export { wordsOf } from './words.js';
