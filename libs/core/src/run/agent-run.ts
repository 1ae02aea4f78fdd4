import type { ModelPrice } from '../configuration/types.js';
import type { RunEnd, RunState } from './run-state.js';
import type { Step } from './step.js';

/** The call that a run answers, where it runs as an agent tool. Structurally the ParentCall of the wire. */
export interface ParentCall {
  /** The tool’s id. */
  readonly tool: string;
  readonly requestId: string;
  readonly sessionId: string;
  readonly toolCallId: string;
  /** Where its turn is parked on agent.tool-calls, and before which of its calls. */
  readonly partition: number;
  readonly offset: number;
  readonly index: number;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** What the run may use up; null for no limit. */
  readonly maxTokens: number | null;
  readonly maxMicroUsd: number | null;
  /** The calls of the turn before this one, which are done. */
  readonly steps: readonly Step[];
}

/** The run that a call of an agent was. Structurally the AgentRun of the wire. */
export interface AgentRun {
  readonly requestId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The call whose agent begins with this end of a turn, one before the first iteration; null for any other turn’s end. */
export function agentBegunBy<P>(turn: {
  readonly iteration: number;
  readonly run: { readonly parent: P | null };
}): P | null {
  return turn.iteration === 0 ? turn.run.parent : null;
}

/**
 * Why a run that answers a call may not ask the model again, or null if it may (K-65). What the last turn used beyond a budget is counted,
 * not taken back. Without a price the rest of the money is unknown, so nothing is.
 */
export function budgetEnd(
  { parent, inputTokens, outputTokens }: RunState,
  price: ModelPrice | undefined,
): RunEnd | null {
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
  // A price is for a million tokens, and the budget in millionths.
  const used = inputTokens * price.input + outputTokens * price.output;
  if (used < maxMicroUsd) return null;
  return { code, message: `The agent used up the ${usd} US dollars that it may cost and has no answer yet.` };
}
