import { trustedTimeOf } from '@sluice/bus';
import type { JsonObject, SignerRole, Verifier } from '@sluice/core';
import type { AgentStepResult, RecordOf, ToolCall, Topic, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import {
  endSignature,
  grantLifeMs,
  isSignedBy,
  judgeContinuation,
  judgeGrant,
  loopSigners,
  tokenWithKey,
  turnOf,
} from '@sluice/run';
import type { SignedTopic } from '@sluice/run';
import type { Difference } from './differences.js';

/** What is wrong with the filter’s signature over a turn; a signature is verified instead of compared. */
export async function grantDifference(record: Toolset, verifier: Verifier): Promise<Difference | null> {
  const claims = await verifier.verify('filter', record.grant);
  const verdict = judgeGrant(claims, turnOf(record), record.decidedAt);
  if (verdict.kind === 'valid' && isGivenThen(claims, record.decidedAt)) return null;
  const was =
    verdict.kind === 'forged' ? verdict.why : 'The grant was given at another time than the decision was made.';
  return {
    path: 'grant',
    was: byUnknown('filter', record.grant, verifier) ?? was,
    is: 'a grant that the filter signed for this turn',
  };
}

/** The same for a call that its request makes itself, which the executor signs where the call has to wait. */
export async function callGrantDifference(record: ToolCall, verifier: Verifier): Promise<Difference | null> {
  const verdict = judgeGrant(await verifier.verify('call', record.grant), turnOf(record), record.call?.decidedAt ?? 0);
  if (verdict.kind === 'valid') return null;
  const was = verdict.kind === 'forged' ? verdict.why : 'The grant was over before the decision was made.';
  return {
    path: 'grant',
    was: byUnknown('call', record.grant, verifier) ?? was,
    is: 'a grant for this call by the executor’s key for calls',
  };
}

/** The filter signs at once: what lasted longer than a grant does was not given with this decision. */
function isGivenThen(claims: JsonObject | null, decidedAt: number): boolean {
  const since = Number(claims?.['exp']) - grantLifeMs - decidedAt;
  return since >= 0 && since < grantLifeMs;
}

export async function continuationDifference(record: AgentStepResult, verifier: Verifier): Promise<Difference | null> {
  const { signature } = record;
  const claims = await verifier.verify('executor', signature);
  const verdict = judgeContinuation(claims, record);
  if (verdict.kind === 'signed') return null;
  return {
    path: 'signature',
    was: byUnknown('executor', signature, verifier) ?? verdict.why,
    is: 'what the executor signed',
  };
}

/**
 * What is wrong with the signature over a whole record; nothing with one from before there were keys of the agent,
 * which is not signed so.
 */
export async function recordDifference<T extends SignedTopic>(
  message: {
    readonly topic: T;
    readonly record: RecordOf<T>;
    readonly timestamp: number;
    readonly readAt?: number | undefined;
  },
  writer: SignerRole,
  verifier: Verifier,
): Promise<Difference | null> {
  const { topic, record } = message;
  const isFormer = writer !== 'call' && trustedTimeOf(message) < verifier.since('agent');
  if (isFormer || (await isSignedBy(writer, topic, record, verifier))) return null;
  if (record.recordSignature === null) {
    // Since when another installation signs whole records, its keys say.
    if (otherSignature(topic, record, verifier) !== null) return null;
    return { path: 'record_signature', was: 'The record is not signed.', is: signedBy(writer) };
  }
  const was = byUnknown(writer, tokenWithKey(record), verifier) ?? 'The record is not as it was signed.';
  return { path: 'record_signature', was, is: signedBy(writer) };
}

function signedBy(writer: SignerRole): string {
  return writer === 'call' ? 'what the executor signed with its key for calls' : `what the ${writer} signed`;
}

/** What is wrong with the signature over a run’s end; nothing with one from before ends were signed. */
export async function endDifference(
  message: Incoming<'agent.responses'>,
  others: readonly Incoming<'agent.toolsets' | 'agent.steps'>[],
  verifier: Verifier,
): Promise<Difference | null> {
  if ((await endSignature(message, verifier)) !== null) return null;
  const { topic, record } = message;
  const is = 'what the service signed that ended the run';
  if (record.recordSignature === null) {
    // Since when another installation signs ends, its keys say.
    if (others.some((one) => keysNotHere(one, verifier).length > 0)) return null;
    return { path: 'record_signature', was: 'The record is not signed.', is };
  }
  const kid = notHere(loopSigners[topic], record.recordSignature, verifier);
  const was = kid === null ? 'The record is not as it was signed.' : byUnknownKey(kid);
  return { path: 'record_signature', was, is };
}

/** Who signs what is signed of a record of the loop beside the whole: a grant, or how the run goes on. */
const partSigners: Readonly<Record<keyof typeof loopSigners, readonly SignerRole[]>> = {
  ...loopSigners,
  'agent.tool-calls': [...loopSigners['agent.toolsets'], 'call'],
};

function isOnLoop(topic: Topic): topic is keyof typeof loopSigners {
  return Object.hasOwn(loopSigners, topic);
}

/** Ids of keys that signed the record, as it says, and are not known here. */
export function keysNotHere({ topic, record }: Incoming, verifier: Verifier): readonly string[] {
  if (!isOnLoop(topic)) return [];
  const token = tokenWithKey(record as Incoming<typeof topic>['record']);
  const found = [otherSignature(topic, record, verifier), notHere(loopSigners[topic], token, verifier)];
  return [...new Set(found)].filter((kid) => kid !== null);
}

/** The key of the other signature in the record, if it is not known here. */
function otherSignature(topic: Topic, record: object, verifier: Verifier): string | null {
  const { grant, signature } = record as { readonly grant?: string | null; readonly signature?: string | null };
  return notHere(isOnLoop(topic) ? partSigners[topic] : [], grant ?? signature ?? null, verifier);
}

function notHere(roles: readonly SignerRole[], token: string | null, verifier: Verifier): string | null {
  if (token === null) return null;
  const found = roles.map((role) => verifier.unknownKey(role, token));
  return found.every((kid) => kid !== null) ? (found[0] ?? null) : null;
}

function byUnknown(role: SignerRole, token: string | null, verifier: Verifier): string | null {
  const kid = token === null ? null : verifier.unknownKey(role, token);
  return kid === null ? null : byUnknownKey(kid);
}

function byUnknownKey(kid: string): string {
  return `It names the key ${kid}, which is not here.`;
}

/** When a grant ends, milliseconds since the epoch; never for what is none. */
export async function grantExpiry(token: string | null, verifier: Verifier): Promise<number> {
  const exp = ((await verifier.verify('filter', token)) ?? (await verifier.verify('call', token)))?.['exp'];
  return typeof exp === 'number' ? exp : Infinity;
}
