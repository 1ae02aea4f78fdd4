import type { JsonObject } from '@sluice/core';
import { findingKinds } from './findings.js';
import type { Finding } from './findings.js';
import type { AuditReport } from './verify.js';

/** Whether all is as the audit wrote it. A check that looked at nothing must not pass. */
export function isSound({ found, chains }: Pick<AuditReport, 'found' | 'chains'>): boolean {
  return found === 0 && chains.some(({ entries }) => entries > 0);
}

/** The report for programs; its findings have a sentence each. */
export function auditReportJson(report: AuditReport): JsonObject & { readonly findings: readonly JsonObject[] } {
  const { chains, findings, found, sources, notCompared } = report;
  return {
    ok: isSound(report),
    found,
    chains: chains.map(({ chain, entries, sequence, head, sealed, checkpoints, waiting, waitingSince }) => ({
      ...{ chain, entries, sequence, head, sealed, checkpoints },
      beyond_last_checkpoint: sequence - sealed,
      waiting,
      waiting_since: waitingSince === null ? null : new Date(waitingSince).toISOString(),
    })),
    findings: findings.map(findingJson),
    sources: { ...sources, not_compared: notCompared },
  };
}

function findingJson({ kind, sourceOffset, runs, what, chain, entries, place, differences }: Finding): JsonObject {
  return {
    ...{ kind, chain, entries: entries && { ...entries }, place: place && { ...place } },
    source_offset: sourceOffset,
    message: what === '' ? findingKinds[kind] : `${findingKinds[kind]} ${what}`,
    what,
    runs: runs.map(({ requestId, sessionId, tenant }) => ({ request_id: requestId, session_id: sessionId, tenant })),
    differences: differences.map((difference) => ({ ...difference })),
  };
}
