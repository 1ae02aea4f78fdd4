export type { Counts } from './approvals.js';
export { listedKinds } from './audit-entries.js';
export { catchUp, follow } from './follow.js';
export { Projection } from './projection.js';
export type {
  ApprovalCursor,
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
