import type { JsonObject } from '@sluice/core';
import { isTopic, topicEntry, topics } from '@sluice/contracts';
import type { AuditRecord } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';

/** Of one session, in memory; a session with more is read as --json of a range. */
const mostEntries = 20_000;

/** An entry of the audit log, its details read. */
export interface SessionEntry {
  readonly kind: string;
  readonly at: string;
  readonly request_id: string;
  readonly session_id: string;
  readonly config_version: string;
  readonly chain: string;
  readonly sequence: number;
  readonly source_offset: number;
  readonly details: JsonObject;
}

/** Where in a run a topic stands, for records that the log took in the same millisecond. */
const stageOf = (topic: string): number => (isTopic(topic) ? topicEntry(topic).stage : 0);

/**
 * What the audit tells of a session, in the order in which it happened; and how many entries beyond those are left
 * out.
 */
export async function sessionEntries(
  log: Pick<Bus, 'read'>,
  session: string,
): Promise<{ readonly entries: readonly SessionEntry[]; readonly left: number }> {
  const found: AuditRecord[] = [];
  let left = 0;
  for await (const { record } of log.read([topics.audit], { from: 'start', onUndecodable: () => undefined })) {
    if (record.sessionId !== session) continue;
    if (found.length < mostEntries) found.push(record);
    else left++;
  }
  found.sort(
    (one, other) =>
      one.at - other.at || stageOf(one.sourceTopic) - stageOf(other.sourceTopic) || one.sequence - other.sequence,
  );
  return { entries: found.map(asEntry), left };
}

/** An entry of the audit with its details read. */
export function asEntry(record: AuditRecord): SessionEntry {
  let details: JsonObject = {};
  try {
    details = JSON.parse(record.details) as JsonObject;
  } catch {
    // The record was changed: `verify` names it, and the report goes on without.
  }
  return {
    kind: record.kind,
    at: new Date(record.at).toISOString(),
    request_id: record.requestId,
    session_id: record.sessionId,
    config_version: record.configVersion,
    chain: `${record.sourceTopic}/${record.sourcePartition}`,
    sequence: record.sequence,
    source_offset: record.sourceOffset,
    details,
  };
}
