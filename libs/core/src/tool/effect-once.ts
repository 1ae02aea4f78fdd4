import { parseExactJson } from '../exact-json.js';
import type { Clock } from '../ports/clock.js';
import { pastOutcomeOf } from '../past/reserve.js';
import type { reserve } from '../past/reserve.js';
import type { Claim, ClaimRequest, Ledger } from '../ports/ledger.js';
import type { PastOutcome } from '../ports/past-calls.js';
import type { BegunBefore, Reconciliation, ToolInvocation, Waits } from './pipeline.js';
import { withoutEffect } from './reconcile.js';
import { failure, refused } from './refusals.js';
import type { BoundTool, ToolExecResult } from './types.js';

/** What effect-once works with. */
export interface EffectClaims {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** This attempt, and no other, also of the same process: who finds its own claim goes on with the effect. */
  readonly owner: string;
  /** How long a claim is remembered; longer than a record can come again. Milliseconds. */
  readonly retentionMs: number;
  /**
   * Which round of the call begins: 1 where it is absent, and one more behind each answer of its caller that the call
   * was parked for. Each is sent once.
   */
  readonly round?: number;
  /** Whether the call’s record was handled before, so that an earlier attempt may have ended its whole process. */
  readonly isAgain: boolean;
  /** Resolves after so many milliseconds, rejects when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Of a call that rules count beyond its run: begins it, with its claim where it has an effect. */
  reserve?(claim: ClaimRequest | null): ReturnType<typeof reserve>;
  /** Of the same call: writes how it ended. Before its claim is given back, so that it takes nothing from the next. */
  countEnd?(outcome: PastOutcome): Promise<void>;
  /** The effect happened and its outcome could not be written down: worth a log line, no reason to stop. */
  onUnsettled(callKey: string, error: unknown): void;
}

/** Connects to what the call is sent to; the result of the call where that fails. */
type Connect = () => Promise<ToolExecResult | null>;

const firstPollMs = 25;
const longestPollMs = 1_000;
/** How many attempts beside the first may end with their process. */
const mostFatal = 3;

/**
 * Runs a tool's effect at most once for a call key. The first claim wins and writes the outcome beside it. An
 * executor that meets a claim without an outcome waits for it up to the tool's time limit, and makes the call if the
 * claim is taken back meanwhile; then it runs again only what is safe to repeat, asks the tool where it can say
 * whether the call took effect, and otherwise answers `outcome_unknown`: a thing is never silently done twice. What
 * the tool says is written beside the claim, so that no later attempt asks again. Neither the call nor the question
 * goes on for ever where it ends the process each time. `connect` comes before the claim, since it sends nothing.
 *
 * A call that waits for its caller is claimed by rounds. The end of a round is written beside its claim before the
 * call is parked: it is neither lost nor sent again by an attempt that finds it.
 */
export async function effectOnce(
  tool: BoundTool,
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult | Waits>,
  ask: () => Promise<Reconciliation>,
  connect: Connect | null = null,
): Promise<ToolExecResult | Waits> {
  if (!claims.isAgain) return connected(tool, invocation, claims, effect, ask, connect);
  const callKey = roundKey(invocation, claims);
  const counting = <T>(work: () => Promise<T>): Promise<T | ToolExecResult> =>
    unlessFatal<T | ToolExecResult>(`fatal/${callKey}`, claims, work, () => fatal(tool, invocation));
  return connected(
    tool,
    invocation,
    claims,
    () => counting(effect),
    () => unlessFatal(`fatal/ask/${callKey}`, claims, ask, () => 'unknown'),
    connect === null ? null : () => counting(connect),
  );
}

/**
 * Connects, claims the call and makes it. A process that ends while it connects leaves no claim, so the next attempt
 * knows that nothing was sent. What another attempt began needs no connection.
 */
async function connected(
  tool: BoundTool,
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult | Waits>,
  ask: () => Promise<Reconciliation>,
  connect: Connect | null,
): Promise<ToolExecResult | Waits> {
  const isClaimed = async (): Promise<boolean> =>
    (await claims.ledger.find(roundKey(invocation, claims))) !== undefined;
  if (connect === null || tool.effect === 'read_only' || (claims.isAgain && (await isClaimed())))
    return claimed(tool, invocation, claims, effect, ask);
  const failed = await connect();
  if (failed === null) return claimed(tool, invocation, claims, effect, ask);
  if (await isClaimed()) return claimed(tool, invocation, claims, () => Promise.resolve(failed), ask);
  return counted(claims, failed);
}

async function claimed(
  tool: BoundTool,
  invocation: ToolInvocation,
  claims: EffectClaims,
  effect: () => Promise<ToolExecResult | Waits>,
  ask: () => Promise<Reconciliation>,
): Promise<ToolExecResult | Waits> {
  const { context } = invocation;
  const key = roundKey(invocation, claims);
  const { ledger, clock, owner, retentionMs } = claims;
  const request = tool.effect === 'read_only' ? null : { key, owner, now: clock.now(), ttlMs: retentionMs };
  const reserved = await claims.reserve?.(request);
  if (reserved?.kind === 'refused') return refused(reserved.verdict, context);
  if (request === null) return counted(claims, await effect());

  const claim = reserved?.claim ?? (await ledger.claim(request));
  if (claim.owner === owner) return runAndSettle(invocation, claims, effect, ask);
  if ((await ledger.find(waitsKey(key))) !== undefined) return 'waits';

  const end = await endOf(claim, key, invocation, claims);
  // So it is this attempt’s to make.
  if (end === 'taken back') return claimed(tool, invocation, claims, effect, ask);
  if (end !== 'unknown') return counted(claims, end);
  // The attempt before it may have had its effect, though this one finds the tool away.
  if (tool.repeatable) return counted(claims, await effect(), true);
  const asked = await ask();
  if (asked === 'unknown') return counted(claims, outcomeUnknown(invocation));
  if (asked !== 'did not happen') return counted(claims, await settled(key, claim.owner, claims, asked));
  // It is for this attempt to make the call, or for another that asked as well and was first.
  await ledger.release(key, claim.owner);
  return claimed(tool, invocation, claims, effect, ask);
}

/**
 * Writes how the call ended for the rules that count it. One that sent something before, in an earlier attempt or
 * round, gives nothing back.
 */
async function counted<T extends ToolExecResult | Waits>(
  { countEnd, round = 1 }: Pick<EffectClaims, 'countEnd' | 'round'>,
  result: T,
  isRepeated = round > 1,
): Promise<T> {
  if (countEnd === undefined || result === 'waits') return result;
  const outcome = pastOutcomeOf(result);
  await countEnd(outcome === 'none' && isRepeated ? 'failed' : outcome);
  return result;
}

/**
 * The result of a call that is refused now, where an earlier attempt had begun it: to call it refused would not be
 * true. Waits for its end as effectOnce does. Null if none had begun.
 */
export async function begunBefore(
  invocation: ToolInvocation,
  claims: Omit<EffectClaims, 'onUnsettled' | 'retentionMs' | 'isAgain'>,
): Promise<BegunBefore | null> {
  const key = roundKey(invocation, claims);
  const claim = await claims.ledger.find(key);
  const { round = 1 } = claims;
  if (claim === undefined && round > 1) return leftWaiting(invocation, round, claims);
  if (claim === undefined || claim.owner === claims.owner || claim.expiresAt <= claims.clock.now()) return null;
  const end = await endOf(claim, key, invocation, claims);
  if (end === 'taken back') return null;
  return { result: end === 'unknown' ? outcomeUnknown(invocation) : end, startedAtMs: claim.claimedAt };
}

/** Of a call that does not go on behind its wait: what was sent before may have had an effect, and is not repeated. */
async function leftWaiting(
  invocation: ToolInvocation,
  round: number,
  { ledger, clock }: Pick<EffectClaims, 'ledger' | 'clock'>,
): Promise<BegunBefore> {
  const before = await ledger.find(roundKey(invocation, { round: round - 1 }));
  return { result: outcomeUnknown(invocation), startedAtMs: before?.claimedAt ?? clock.now() };
}

function roundKey({ callKey }: ToolInvocation, { round = 1 }: Pick<EffectClaims, 'round'>): string {
  return round === 1 ? callKey : `${callKey}/round/${round}`;
}

/**
 * Under which it is written that a round has ended and waits. A former version, which does not look there, finds a
 * claim without an outcome, and never sends the round again.
 */
function waitsKey(key: string): string {
  return `waits/${key}`;
}

/**
 * Waits for the end of what another attempt began, up to the tool’s time limit. It is taken back where nothing had
 * begun.
 */
async function endOf(
  claim: Claim,
  key: string,
  { signal, timeoutMs, context: { toolCallId } }: ToolInvocation,
  { ledger, clock, sleep }: Pick<EffectClaims, 'ledger' | 'clock' | 'sleep'>,
): Promise<ToolExecResult | 'taken back' | 'unknown'> {
  const giveUpAt = claim.claimedAt + timeoutMs;
  let { value } = claim;
  for (let wait = firstPollMs; value === null && clock.now() < giveUpAt; wait = Math.min(2 * wait, longestPollMs)) {
    await sleep(Math.max(1, Math.min(wait, giveUpAt - clock.now())), signal);
    const found = await ledger.find(key);
    if (found === undefined) return 'taken back';
    value = found.value;
  }
  return value === null ? 'unknown' : { ...(parseExactJson(value) as unknown as ToolExecResult), toolCallId };
}

/**
 * Does the work, of which earlier attempts may have ended their whole process. Each attempt takes a place and gives
 * it back at its end; one that ended with its process keeps it. When no place is left, the work is what ends the
 * process, and is not done.
 */
async function unlessFatal<T>(
  name: string,
  { ledger, clock, owner, retentionMs }: EffectClaims,
  work: () => Promise<T>,
  otherwise: () => T,
): Promise<T> {
  for (let place = 1; place <= mostFatal; place++) {
    const key = `${name}/${place}`;
    const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: retentionMs });
    if (claim.owner !== owner) continue;
    try {
      return await work();
    } finally {
      // One place less does no harm.
      await ledger.release(key, owner).catch(() => undefined);
    }
  }
  return otherwise();
}

/**
 * What is repeatable may have taken effect before its process ended; anything else comes here only where it did not.
 */
function fatal({ effect, repeatable }: BoundTool, invocation: ToolInvocation): ToolExecResult {
  if (effect !== 'read_only' && repeatable) return outcomeUnknown(invocation);
  const message =
    'Each attempt at this call ended with the service that made it, so it is not made again. Use other arguments or another tool.';
  return failure(invocation.context.toolCallId, 'execution', message, 'service_lost');
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
  effect: () => Promise<ToolExecResult | Waits>,
  ask: () => Promise<Reconciliation>,
): Promise<ToolExecResult | Waits> {
  const { ledger, clock, owner, retentionMs } = claims;
  const callKey = roundKey(invocation, claims);
  const result = await effect();
  if (result === 'waits') {
    await ledger.claim({ key: waitsKey(callKey), owner, now: clock.now(), ttlMs: retentionMs });
    return result;
  }
  if (!result.ok && result.errorCode === 'unavailable') {
    await counted(claims, result);
    await ledger.release(callKey, owner).catch((error: unknown) => claims.onUnsettled(callKey, error));
    return result;
  }
  const end = (one: ToolExecResult) => settled(callKey, owner, claims, one).then((all) => counted(claims, all));
  if (result.ok || result.reason !== 'outcome_unknown') return end(result);
  const asked = await ask();
  if (asked === 'unknown') return end(result);
  const known = asked === 'did not happen' ? withoutEffect(result.toolCallId) : asked;
  const { questions } = result;
  return end(questions === undefined ? known : { ...known, questions });
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
