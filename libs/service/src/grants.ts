import { continuationClaims, Fault, grantClaims, isReturned, judgeContinuation, judgeGrant } from '@sluice/core';
import type { Verifier } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AgentStepResult, ToolCall, Toolset } from '@sluice/contracts';
import { turnOf } from '@sluice/decisions';
import type { Runtime } from './runtime.js';

type Signing = Pick<Runtime, 'signatures' | 'clock'>;

/** Who verifies may be more than who signs: for the audit, all keys that were ever used. */
type Verifying = Pick<Runtime, 'clock'> & { readonly signatures: Verifier };

/** The filter’s decision with its signature over what it granted. */
export function signGrant(toolset: Toolset, { signatures, clock }: Signing): Promise<Toolset> {
  const claims = grantClaims(turnOf(toolset), sha256, clock.now());
  return signatures.sign('filter', claims).then((grant) => ({ ...toolset, grant }));
}

/**
 * Whether the record’s grant may be used at the time, now unless given, or has expired by then. Throws Fault('grant_invalid') if the filter did not sign it for exactly
 * this turn: another session or iteration, other tools, groups or state, another request or another run.
 */
export async function verifyGrant(
  record: Toolset | ToolCall,
  { signatures, clock }: Verifying,
  at = clock.now(),
): Promise<'valid' | 'expired'> {
  const claims = await signatures.verify('filter', record.grant);
  const verdict = judgeGrant(claims, turnOf(record), sha256, at);
  if (verdict.kind === 'forged') throw new Fault('grant_invalid', verdict.why, false);
  return verdict.kind;
}

/** How the run goes on, with the executor’s signature over it. */
export async function signContinuation(result: AgentStepResult, { signatures }: Signing): Promise<AgentStepResult> {
  return { ...result, signature: await signatures.sign('executor', continuationClaims(result, sha256)) };
}

/** Throws a Fault that says what the record is, if the executor did not sign exactly this continuation. */
export async function verifyContinuation(
  result: AgentStepResult,
  { signatures }: Pick<Verifying, 'signatures'>,
): Promise<void> {
  const claims = await signatures.verify('executor', result.signature);
  const verdict = judgeContinuation(claims, result, sha256);
  if (verdict.kind === 'forged') throw new Fault(verdict.code, verdict.why, false);
}

/** A turn that comes back from the dead letters carries the filter’s own grant as its signature. Throws Fault('continuation_invalid') if it does not. */
export async function verifyReturned(
  result: AgentStepResult,
  { signatures }: Pick<Verifying, 'signatures'>,
): Promise<void> {
  const { next: request, signature, ...turn } = result;
  const claims = await signatures.verify('filter', signature);
  if (isReturned(claims, { ...turn, request }, sha256)) return;
  throw new Fault('continuation_invalid', 'The filter did not grant the turn that comes back to it.', false);
}
