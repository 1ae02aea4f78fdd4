export { Projection } from './projection.js';
export type { ProjectionPlace } from './projection.js';
export { catchUp, follow } from './follow.js';
export type { Following } from './follow.js';
export type { Counts } from './approvals.js';
export { listedKinds } from './audit-entries.js';
export type {
  ApprovalCursor,
  AuditCursor,
  AuditFilter,
  LetterCursor,
  LetterListFilter,
  ListedEntry,
  ListedLetter,
  ListedRun,
  ListedSession,
  RunCursor,
  RunFilter,
  Viewer,
  WaitingApproval,
} from './types.js';
