import { trustedTimeOf } from '@sluice/bus';
import { Fault, normaliseState } from '@sluice/core';
import type { SignerRole, Verifier } from '@sluice/core';
import { shareRecord, topics } from '@sluice/contracts';
import type { AgentStepResult, RecordOf, ToolCall, Toolset } from '@sluice/contracts';
import type { RunParts } from '../parts.js';
import { continuationClaims, judgeContinuation } from './continuation-claims.js';
import { grantClaims, isReturned, judgeGrant } from './grant-claims.js';
import type { GrantedTurn } from './grant-claims.js';
import { isSignedBy, loopSigners, signatureOver, withSignature } from './signed-record.js';

type Signing = Pick<RunParts, 'signatures' | 'clock'>;

/** Who verifies may be more than who signs: for the audit, all keys that were ever used. */
type Verifying = Pick<RunParts, 'clock'> & { readonly signatures: Verifier };

/** The turn that a record’s grant must be for. */
export function turnOf(record: Toolset | ToolCall): GrantedTurn {
  if ('offered' in record) return { ...record, state: normaliseState(record.request.state), tools: record.offered };
  return { ...record, tools: record.tools.map((tool) => tool.id) };
}

/**
 * The filter’s decision with its signatures: over what it granted, which goes on with the turn, and over the whole
 * record.
 */
export async function signGrant(decided: Toolset, { signatures, clock }: Signing): Promise<Toolset> {
  const toolset = shareRecord(decided);
  const claims = grantClaims(turnOf(toolset), clock.now());
  const [grant, recordSignature] = await Promise.all([
    signatures.sign('filter', claims),
    signatureOver(topics.toolsets, toolset, 'filter', signatures),
  ]);
  return withSignature(toolset, recordSignature, { grant });
}

/**
 * The turn of a call that its request makes itself, as it goes on where the call has to wait, with what was decided
 * about it (`call`): granted and signed with the key for such calls.
 */
export async function signCallTurn(decided: ToolCall, { signatures, clock }: Signing): Promise<ToolCall> {
  const grant = await signatures.sign('call', grantClaims(turnOf(decided), clock.now()));
  const turn = shareRecord({ ...decided, grant });
  return withSignature(turn, await signatureOver(topics.toolCalls, turn, 'call', signatures));
}

/** What became of a call that its request made itself, with the signature of the key for such calls. */
export async function signCall(
  ended: AgentStepResult,
  { signatures }: Pick<Signing, 'signatures'>,
): Promise<AgentStepResult> {
  const result = shareRecord(ended);
  return withSignature(result, await signatureOver(topics.steps, result, 'call', signatures));
}

/** Who signs the record as a whole: a call that its request makes itself is no model’s, nor is its end. */
function writerOf({ topic, record }: { readonly topic: LoopTopic; readonly record: object }): SignerRole {
  const isOwnCall = topic !== topics.toolsets && (record as AgentStepResult | ToolCall).call !== null;
  return isOwnCall ? 'call' : loopSigners[topic][0];
}

/** Whether the turn is the call that its request makes itself, and no other: such a one no filter has to grant. */
function isOwnCall({ iteration, request: { call }, calls }: ToolCall): boolean {
  const [made, ...more] = calls;
  return call !== null && iteration === 1 && more.length === 0 && made?.arguments === call.arguments;
}

/**
 * The model’s turn with the agent’s signature; as it is where the keys are of a former version and have none of the
 * agent.
 */
export async function signTurn(turn: ToolCall, { signatures }: Pick<Signing, 'signatures'>): Promise<ToolCall> {
  if (!signatures.canSign('agent')) return turn;
  return withSignature(turn, await signatureOver(topics.toolCalls, shareRecord(turn), 'agent', signatures));
}

type LoopTopic = Exclude<keyof typeof loopSigners, 'agent.responses'>;

/**
 * Throws Fault('signature_invalid') if the service that writes the topic did not sign the whole record; `writer` is
 * another one where it says so. Whole records are signed since there are keys of the agent: what the log took before
 * is as a former version wrote it.
 */
export async function verifyRecord<T extends LoopTopic>(
  message: {
    readonly topic: T;
    readonly record: RecordOf<T>;
    readonly timestamp: number;
    readonly readAt?: number | undefined;
  },
  { signatures }: Pick<Verifying, 'signatures'>,
  writer: SignerRole = writerOf(message),
): Promise<void> {
  const { topic, record } = message;
  // No former version wrote records of calls that requests make themselves.
  if (writer !== 'call' && trustedTimeOf(message) < signatures.since('agent')) return;
  if (await isSignedBy(writer, topic, record, signatures)) return;
  const found = record.recordSignature === null ? 'It is not signed.' : 'It is not as it was signed.';
  throw new Fault('signature_invalid', `The ${writer} did not sign this record as a whole. ${found}`, false);
}

/**
 * Whether the record’s grant may be used at the time, now unless given, or has expired by then. Throws
 * Fault('grant_invalid') if the filter, or the executor for a call that the request makes itself, did not sign it for
 * exactly this turn: another session or iteration, other tools, groups or state, another request or another run.
 */
export async function verifyGrant(
  record: Toolset | ToolCall,
  { signatures, clock }: Verifying,
  at = clock.now(),
): Promise<'valid' | 'expired'> {
  const own = 'offered' in record && record.call !== null ? record : null;
  const isNone = own !== null && !isOwnCall(own);
  const claims = isNone ? null : await signatures.verify(own === null ? 'filter' : 'call', record.grant);
  const verdict = judgeGrant(claims, turnOf(record), at);
  if (verdict.kind === 'forged') throw new Fault('grant_invalid', verdict.why, false);
  return verdict.kind;
}

/** How the run goes on, with the executor’s signatures: over that, and over the whole record. */
export async function signContinuation(turnEnd: AgentStepResult, { signatures }: Signing): Promise<AgentStepResult> {
  const result = shareRecord(turnEnd);
  const [signature, recordSignature] = await Promise.all([
    signatures.sign('executor', continuationClaims(result)),
    signatureOver(topics.steps, result, 'executor', signatures),
  ]);
  return withSignature(result, recordSignature, { signature });
}

/** A turn that the filter takes back, with its signature over the whole record beside the grant. */
export async function signReturned(
  returned: AgentStepResult,
  { signatures }: Pick<Signing, 'signatures'>,
): Promise<AgentStepResult> {
  return withSignature(returned, await signatureOver(topics.steps, returned, 'filter', signatures));
}

/** Throws a Fault that says what the record is, if the executor did not sign exactly this continuation. */
export async function verifyContinuation(
  result: AgentStepResult,
  { signatures }: Pick<Verifying, 'signatures'>,
): Promise<void> {
  const claims = await signatures.verify('executor', result.signature);
  const verdict = judgeContinuation(claims, result);
  if (verdict.kind === 'forged') throw new Fault(verdict.code, verdict.why, false);
}

/**
 * A turn that comes back from the dead letters carries the filter’s own grant as its signature. Throws
 * Fault('continuation_invalid') if it does not.
 */
export async function verifyReturned(
  result: AgentStepResult,
  { signatures }: Pick<Verifying, 'signatures'>,
): Promise<void> {
  const { next: request, signature, ...turn } = result;
  const claims = await signatures.verify('filter', signature);
  if (isReturned(claims, { ...turn, request })) return;
  throw new Fault('continuation_invalid', 'The filter did not grant the turn that comes back to it.', false);
}
