import { grantLifeMs, judgeContinuation, judgeGrant } from '@sluice/core';
import type { JsonObject, SignerRole, Verifier } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentStepResult, RecordOf, Toolset } from '@sluice/contracts';
import { isSignedBy, turnOf } from '@sluice/decisions';
import type { SignedTopic } from '@sluice/decisions';
import type { Difference } from './differences.js';

/** What is wrong with the filter’s signature over a turn; a signature is verified instead of compared. */
export async function grantDifference(record: Toolset, verifier: Verifier): Promise<Difference | null> {
  const claims = await verifier.verify('filter', record.grant);
  const verdict = judgeGrant(claims, turnOf(record), sha256, record.decidedAt);
  if (verdict.kind === 'valid' && isGivenThen(claims, record.decidedAt)) return null;
  const was =
    verdict.kind === 'forged' ? verdict.why : 'The grant was given at another time than the decision was made.';
  return { path: 'grant', was, is: 'a grant that the filter signed for this turn' };
}

/** The filter signs at once: what lasted longer than a grant does was not given with this decision. */
function isGivenThen(claims: JsonObject | null, decidedAt: number): boolean {
  const since = Number(claims?.['exp']) - grantLifeMs - decidedAt;
  return since >= 0 && since < grantLifeMs;
}

export async function continuationDifference(record: AgentStepResult, verifier: Verifier): Promise<Difference | null> {
  const { signature } = record;
  const claims = await verifier.verify('executor', signature);
  const verdict = judgeContinuation(claims, record, sha256);
  if (verdict.kind === 'signed') return null;
  return { path: 'signature', was: verdict.why, is: 'what the executor signed' };
}

/** What is wrong with the signature over a whole record; nothing with one from before there were keys of the agent, which is not signed so. */
export async function recordDifference<T extends SignedTopic>(
  { topic, record, timestamp }: { readonly topic: T; readonly record: RecordOf<T>; readonly timestamp: number },
  writer: SignerRole,
  verifier: Verifier,
): Promise<Difference | null> {
  if (timestamp < verifier.since('agent') || (await isSignedBy(writer, topic, record, verifier))) return null;
  const was = record.recordSignature === null ? 'The record is not signed.' : 'The record is not as it was signed.';
  return { path: 'record_signature', was, is: `what the ${writer} signed` };
}

/** When a grant ends, milliseconds since the epoch; never for what is none. */
export async function grantExpiry(token: string | null, verifier: Verifier): Promise<number> {
  const exp = (await verifier.verify('filter', token))?.['exp'];
  return typeof exp === 'number' ? exp : Infinity;
}
