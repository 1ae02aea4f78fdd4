import { parseExactJson } from '../exact-json.js';
import type { Clock } from '../ports/clock.js';
import type { Claim, Ledger } from '../ports/ledger.js';
import type { BegunBefore, Reconciliation, ToolInvocation } from './pipeline.js';
import { withoutEffect } from './reconcile.js';
import type { BoundTool, ToolExecResult } from './types.js';

/** What effect-once works with. */
export interface EffectClaims {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** This attempt, and no other, also of the same process: who finds its own claim goes on with the effect. */
  readonly owner: string;
  /** How long a claim is remembered; longer than a record can come again. Milliseconds. */
  readonly retentionMs: number;
  /** Resolves after so many milliseconds, rejects when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** The effect happened and its outcome could not be written down: worth a log line, no reason to stop. */
  onUnsettled(callKey: string, error: unknown): void;
}

const firstPollMs = 25;
const longestPollMs = 1_000;

/**
 * Runs a tool's effect at most once for a call key. The first claim wins and writes the outcome beside it. An executor that meets a claim
 * without an outcome waits for it up to the tool's time limit, and makes the call if the claim is taken back meanwhile; then it runs
 * again only what is safe to repeat, asks the tool where it can say whether the call took effect, and otherwise answers `outcome_unknown`: a
 * thing is never silently done twice. What the tool says is written beside the claim, so that no later attempt asks again.
 */
export async function effectOnce(
  tool: BoundTool,
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult>,
  ask: () => Promise<Reconciliation>,
): Promise<ToolExecResult> {
  if (tool.effect === 'read_only') return effect();

  const { callKey: key } = invocation;
  const { ledger, clock, owner, retentionMs } = claims;
  const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: retentionMs });
  if (claim.owner === owner) return runAndSettle(invocation, claims, effect, ask);

  const end = await endOf(claim, invocation, claims);
  // So it is this attempt’s to make.
  if (end === 'taken back') return effectOnce(tool, invocation, claims, effect, ask);
  if (end !== 'unknown') return end;
  if (tool.repeatable) return effect();
  const asked = await ask();
  if (asked === 'unknown') return outcomeUnknown(invocation);
  if (asked !== 'did not happen') return settled(key, claim.owner, claims, asked);
  // It is for this attempt to make the call, or for another that asked as well and was first.
  await ledger.release(key, claim.owner);
  return effectOnce(tool, invocation, claims, effect, ask);
}

/**
 * The result of a call that is refused now, where an earlier attempt had begun it: to call it refused would not be true. Waits for its end
 * as effectOnce does. Null if none had begun.
 */
export async function begunBefore(
  invocation: ToolInvocation,
  claims: Omit<EffectClaims, 'onUnsettled' | 'retentionMs'>,
): Promise<BegunBefore | null> {
  const claim = await claims.ledger.find(invocation.callKey);
  if (claim === undefined || claim.owner === claims.owner || claim.expiresAt <= claims.clock.now()) return null;
  const end = await endOf(claim, invocation, claims);
  if (end === 'taken back') return null;
  return { result: end === 'unknown' ? outcomeUnknown(invocation) : end, startedAtMs: claim.claimedAt };
}

/** Waits for the end of what another attempt began, up to the tool’s time limit. It is taken back where nothing had begun. */
async function endOf(
  claim: Claim,
  { callKey, signal, timeoutMs, context: { toolCallId } }: ToolInvocation,
  { ledger, clock, sleep }: Pick<EffectClaims, 'ledger' | 'clock' | 'sleep'>,
): Promise<ToolExecResult | 'taken back' | 'unknown'> {
  const giveUpAt = claim.claimedAt + timeoutMs;
  let { value } = claim;
  for (let wait = firstPollMs; value === null && clock.now() < giveUpAt; wait = Math.min(2 * wait, longestPollMs)) {
    await sleep(Math.max(1, Math.min(wait, giveUpAt - clock.now())), signal);
    const found = await ledger.find(callKey);
    if (found === undefined) return 'taken back';
    value = found.value;
  }
  return value === null ? 'unknown' : { ...(parseExactJson(value) as unknown as ToolExecResult), toolCallId };
}

function outcomeUnknown({ context: { toolCallId } }: ToolInvocation): ToolExecResult {
  return {
    toolCallId,
    ok: false,
    errorCode: 'execution',
    reason: 'outcome_unknown',
    safeMessage:
      'An earlier attempt of this call began and its end is not known. It was not repeated: find out first whether it took effect.',
  };
}

async function runAndSettle(
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult>,
  ask: () => Promise<Reconciliation>,
): Promise<ToolExecResult> {
  const { ledger, owner } = claims;
  const { callKey } = invocation;
  const result = await effect();
  if (!result.ok && result.errorCode === 'unavailable') {
    await ledger.release(callKey, owner).catch((error: unknown) => claims.onUnsettled(callKey, error));
    return result;
  }
  if (result.ok || result.reason !== 'outcome_unknown') return settled(callKey, owner, claims, result);
  const asked = await ask();
  if (asked === 'unknown') return settled(callKey, owner, claims, result);
  const known = asked === 'did not happen' ? withoutEffect(result.toolCallId) : asked;
  return settled(callKey, owner, claims, known);
}

/** Writes the outcome beside the claim of this owner. */
async function settled(
  callKey: string,
  owner: string,
  { ledger, onUnsettled }: Pick<EffectClaims, 'ledger' | 'onUnsettled'>,
  result: ToolExecResult,
): Promise<ToolExecResult> {
  try {
    await ledger.settle(callKey, owner, JSON.stringify(result));
  } catch (error) {
    onUnsettled(callKey, error);
  }
  return result;
}
