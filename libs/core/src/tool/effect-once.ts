import { parseExactJson } from '../exact-json.js';
import type { Clock } from '../ports/clock.js';
import type { Claim, Ledger } from '../ports/ledger.js';
import type { BegunBefore, ToolInvocation } from './pipeline.js';
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
 * again only what is safe to repeat, and otherwise answers `outcome_unknown`: a thing is never silently done twice.
 */
export async function effectOnce(
  tool: BoundTool,
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult>,
): Promise<ToolExecResult> {
  if (tool.effect === 'read_only') return effect();

  const { callKey: key } = invocation;
  const { ledger, clock, owner, retentionMs } = claims;
  const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: retentionMs });
  if (claim.owner === owner) return runAndSettle(invocation, claims, effect);

  const end = await endOf(claim, invocation, claims);
  // So it is this attempt’s to make.
  if (end === 'taken back') return effectOnce(tool, invocation, claims, effect);
  if (end !== 'unknown') return end;
  return tool.repeatable ? effect() : outcomeUnknown(invocation);
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
): Promise<ToolExecResult> {
  const { ledger, owner } = claims;
  const result = await effect();
  try {
    if (!result.ok && result.errorCode === 'unavailable') await ledger.release(invocation.callKey, owner);
    else await ledger.settle(invocation.callKey, owner, JSON.stringify(result));
  } catch (error) {
    claims.onUnsettled(invocation.callKey, error);
  }
  return result;
}
