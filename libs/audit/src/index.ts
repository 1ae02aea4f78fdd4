export { after, decodeHead, encodeHead, hashOf, noHead, seal } from './chain.js';
export type { Head, SourcePosition } from './chain.js';
export {
  checkpointBeside,
  checkpointEntry,
  checkpointKind,
  openCheckpoint,
  signatureOf,
  signHead,
} from './checkpoint.js';
export { contentHash } from './content.js';
export { chainOf, sourceTopics } from './sources.js';
export type { Source } from './sources.js';
export { attest } from './attest/attest.js';
export { softwareQuotes } from './attest/quote.js';
export type { Attestation } from './attest/report.js';
export { verifyAttestation } from './attest/verify.js';
export { entriesOf } from './entries/entries.js';
export { deadLetterEntry, resumedEntry } from './entries/given-up.js';
export { entryKinds } from './entries/kinds.js';
export type { AuditedTool, EntryDraft, ToolLookup } from './entries/draft-entry.js';
export { findingKinds } from './verify/findings.js';
export type { ChainReport, Difference, Finding, FoundRun } from './verify/findings.js';
export type { Anchor } from './verify/seals.js';
export { auditReportJson, isSound } from './verify/report-json.js';
export { verifyAudit } from './verify/verify.js';
export type { AuditReport } from './verify/verify.js';
