import type { ModelPrice } from '../settings/model-types.js';
import type { RunErrorCode } from '../errors.js';
import { costOf, runCost, type RunTokens } from './cost.js';
import type { OuterCall, ParentCall } from './step.js';

/** Why a run ends without an answer, as its AgentResponse says it. */
export interface RunEnd {
  readonly code: RunErrorCode;
  readonly message: string;
}

/**
 * The call whose agent begins with this end of a turn, one before the first iteration; null for any other turn’s end.
 */
export function agentBegunBy<P>(turn: {
  readonly iteration: number;
  readonly run: { readonly parent: P | null };
}): P | null {
  return turn.iteration === 0 ? turn.run.parent : null;
}

/** How many calls of agents the run is within: 0 for one that a caller asked for. */
export function depthOf({ parent }: { readonly parent: Pick<ParentCall, 'outer'> | null }): number {
  return parent === null ? 0 : 1 + (parent.outer?.length ?? 0);
}

/** The calls of agents that the run is within, the nearest first. */
export function callsAround({
  parent,
}: {
  readonly parent: Pick<ParentCall, 'tool' | 'requestId' | 'outer'> | null;
}): readonly OuterCall[] {
  if (parent === null) return [];
  const { tool, requestId } = parent;
  return [{ tool, requestId }, ...(parent.outer ?? [])];
}

/**
 * Why a run that answers a call may not ask the model again, or null if it may (K-65). What the last turn used beyond
 * a budget is counted, not taken back. Without a price the rest of the money is unknown, so nothing is.
 */
export function budgetEnd(
  run: RunTokens & { readonly parent: ParentCall | null },
  price: ModelPrice | undefined,
): RunEnd | null {
  const { parent, inputTokens, outputTokens } = run;
  if (parent === null) return null;
  const { maxTokens, maxMicroUsd } = parent;
  const code = 'budget_exceeded';
  const tokens = inputTokens + outputTokens;
  if (maxTokens !== null && tokens >= maxTokens)
    return { code, message: `The agent used ${tokens} of its ${maxTokens} tokens and has no answer yet.` };
  if (maxMicroUsd === null) return null;
  const usd = (maxMicroUsd / 1_000_000).toString();
  if (price === undefined)
    return { code, message: `The agent may cost ${usd} US dollars, and no price says what it cost so far.` };
  const used = runCost(run, price);
  if (used < maxMicroUsd) return null;
  return { code, message: `The agent used up the ${usd} US dollars that it may cost and has no answer yet.` };
}

/** What one run may use up (policy.budgets), and what one turn of its model may write. */
export interface RunBudget {
  readonly tokensPerRun?: number;
  readonly microUsdPerRun?: number;
  readonly maxOutputTokens?: number;
  /** What that turn costs, where another model takes it than the one that the run asks first. */
  readonly turnPrice?: ModelPrice;
}

/**
 * What is left of the tokens and the money of a run, null where nothing limits them. Without a price no money is
 * left.
 */
export function runBudgetLeft(
  run: RunTokens,
  price: ModelPrice | undefined,
  { tokensPerRun, microUsdPerRun }: RunBudget,
): { readonly tokens: number | null; readonly microUsd: number | null } {
  const tokens = tokensPerRun === undefined ? null : Math.max(0, tokensPerRun - run.inputTokens - run.outputTokens);
  if (microUsdPerRun === undefined) return { tokens, microUsd: null };
  const used = price === undefined ? microUsdPerRun : runCost(run, price);
  return { tokens, microUsd: Math.max(0, Math.floor(microUsdPerRun - used)) };
}

/** Bytes of a text that are about one token. */
export const bytesPerToken = 4;

/**
 * Why the run may not ask the model again, or null if it may: what the turn may cost is set aside first, the longest
 * answer and about what the model reads of the history. Without a price the rest of the money is unknown, so nothing
 * is.
 */
export function runBudgetEnd(
  run: RunTokens,
  price: ModelPrice | undefined,
  bytes: number,
  { tokensPerRun, microUsdPerRun, maxOutputTokens = 0, turnPrice }: RunBudget,
): RunEnd | null {
  const code = 'budget_exceeded';
  const { inputTokens, outputTokens } = run;
  const turn = { inputTokens: Math.ceil(bytes / bytesPerToken), outputTokens: maxOutputTokens };
  const read = inputTokens + turn.inputTokens;
  const written = outputTokens + turn.outputTokens;
  if (tokensPerRun !== undefined && read + written > tokensPerRun) {
    const used = inputTokens + outputTokens;
    const message = `The run used ${used} of its ${tokensPerRun} tokens, and what another turn may use is more than the rest.`;
    return { code, message };
  }
  if (microUsdPerRun === undefined) return null;
  const usd = (microUsdPerRun / 1_000_000).toString();
  if (price === undefined)
    return { code, message: `The run may cost ${usd} US dollars, and no price says what it cost so far.` };
  const cost =
    turnPrice === undefined
      ? runCost({ ...run, inputTokens: read, outputTokens: written }, price)
      : runCost(run, price) + costOf(turn, turnPrice);
  if (cost <= microUsdPerRun) return null;
  return {
    code,
    message: `What another turn may cost is more than the rest of the ${usd} US dollars that the run may cost.`,
  };
}
