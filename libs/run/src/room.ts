import {
  budgetOf,
  endsRun,
  invocationRecord,
  largestMessage,
  lookupFact,
  pastFactName,
  utf8Length,
} from '@sluice/core';
import type { CallTimes, Evaluator, Limits, Step } from '@sluice/core';
import { make, maxPayloadBytes, payloadBytes, topics } from '@sluice/contracts';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { callIdOf, longestName, parseArguments } from './calls.js';
import { ruleFactsOf } from './conditions.js';
import { afterStep, historyFull, stepOf, stepResult } from './steps.js';
import type { TurnSoFar } from './steps.js';

/**
 * Why a call is not made, whatever its tool: `history_full` under a configuration of an earlier version, which
 * bounded nothing else.
 */
export type NotMade = 'too_many_calls' | 'arguments_too_large' | 'record_full' | 'history_full';

/**
 * Bytes of the record that are kept free: for the signature, the version in force, and the error that the run may end
 * with.
 */
const spareBytes = 16_384;

/** A refusal of the longest message there is, for calls whose refusal is not known yet. */
const anyRefusal = 'x'.repeat(256);

/** Bytes of the names of content that a step can have (libs/mcp/src/answers.ts bounds them). */
const mostContentBytes = 3_328;

/**
 * Bytes of a step that depend on its result, but for the observation: outcome, reason, hash, the agent's run, and names
 * of content.
 */
const resultFormBytes = 512 + mostContentBytes;

/** Bytes of what a server may have asked in one call, which its step alone has (libs/hub bounds it). */
const mostQuestionBytes = 20_480;

/** Bytes of a fact that its step has, beside its name. */
const mostFactBytes = 160;

/** Bytes of what an approver may have changed the arguments to, as the step shows it, with the hash and by whom. */
const mostEditBytes = 6_656;

/**
 * Why the call at `index` is not made although it could be, or null. `done` are the steps before it. A call is made
 * only if the turn's record has room for the largest step that it can become and for refusing the calls behind it:
 * else the record could not be written, and what the calls did would stand nowhere.
 */
export function notMade(
  record: ToolCall,
  index: number,
  done: readonly Step[],
  turn: TurnSoFar,
  granted: Evaluator,
): NotMade | null {
  const { limits } = granted.configuration;
  const { callsPerTurn } = limits;
  const call = record.calls[index] as RequestedCall;
  const historyFull = turn.bytes > limits.historyBytes;
  if (callsPerTurn === undefined) {
    if (historyFull) return 'history_full';
    return call.argumentsBytes === null ? null : 'arguments_too_large';
  }
  if (index >= callsPerTurn) return 'too_many_calls';
  if (call.argumentsBytes !== null) return 'arguments_too_large';
  return historyFull || !hasRoomForCall(record, index, done, turn, granted) ? 'record_full' : null;
}

/**
 * Whether the turn's record has room for these steps, for refusing the calls behind them, and for so many bytes more.
 */
export function hasRoom(
  record: ToolCall,
  steps: readonly Step[],
  turn: TurnSoFar,
  granted: Pick<Evaluator, 'byId'>,
  more = 0,
): boolean {
  const rest = record.calls
    .slice(steps.length)
    .map((_, n) =>
      refusal(record, steps.length + n, turn.state, record.run.deadline, 'too_many_calls', anyRefusal, granted),
    );
  // An attempt that was re-driven has as much room as the first one, so that both refuse the same calls.
  const first = { ...record, run: { ...record.run, redrive: null } };
  const result = stepResult(first, [...steps, ...rest], turn, '');
  return payloadBytes(topics.steps, result) + more + spareBytes <= maxPayloadBytes;
}

function hasRoomForCall(
  record: ToolCall,
  index: number,
  done: readonly Step[],
  turn: TurnSoFar,
  granted: Evaluator,
): boolean {
  const call = record.calls[index] as RequestedCall;
  const tool = granted.byId(call.tool);
  const { limits, policy } = granted.configuration;
  const ended = { toolCallId: callIdOf(record, call, index), ok: true, value: '' } as const;
  const times = { startedAtMs: record.run.deadline, endedAtMs: record.run.deadline };
  const empty = stepOf(record, index, turn.state, tool, invocationRecord(call, ended, times));
  const result = Math.min(limits.resultBytes, budgetOf(call.tool, policy).resultBytes ?? Infinity);
  // A tool that ends the run gives a text out of its arguments, which stands in the run as well.
  const completes = endsRun(tool);
  const observation = Math.max(largestMessage, completes ? Math.min(result, utf8Length(call.arguments)) : result);
  const asked = tool?.mcp ? mostQuestionBytes : 0;
  const edited = tool === undefined || granted.policy.decide(tool) === 'allow' ? 0 : 2 * mostEditBytes;
  const judged = ruleBytes(granted) + factBytes(record, call, turn.state, granted);
  const more = (completes ? 3 : 2) * (observation + resultFormBytes) + asked + edited + judged;
  return hasRoom(record, [...done, empty], afterStep(turn, call.tool, empty, granted), granted, more);
}

/** Bytes of the name of the rule that may refuse the call. */
function ruleBytes({ configuration: { rules = [] } }: Evaluator): number {
  return rules.reduce((most, { name }) => Math.max(most, utf8Length(name)), 0);
}

/** Bytes of what may be found out to judge the call: the past, totals, and lists that are kept elsewhere. */
function factBytes(
  record: ToolCall,
  { tool, arguments: text }: RequestedCall,
  state: string,
  granted: Evaluator,
): number {
  const { past, argumentRules } = granted;
  const args = argumentRules.hasBounds ? parseArguments(text) : undefined;
  const facts = args === undefined ? null : ruleFactsOf(record, granted, 0);
  const lookups = facts === null ? [] : argumentRules.lookups({ toolId: tool, args: args ?? null }, facts, state);
  const names = [...past.asked(tool).map(pastFactName), ...past.totalFacts(tool), ...lookups.map(lookupFact)];
  return names.reduce((sum, name) => sum + utf8Length(name) + mostFactBytes, 0);
}

/**
 * The step of a call that is not made. It repeats no argument, so that there is room for it wherever a call before it
 * was made.
 */
export function refusedCall(
  record: ToolCall,
  index: number,
  state: string,
  now: number,
  why: NotMade,
  granted: Evaluator,
): Step {
  if (why === 'history_full') return historyFull(record, index, state, now);
  const message = messageOf(record, index, why, granted.configuration.limits);
  return refusal(record, index, state, now, why, message, granted);
}

/**
 * The step of a call that an earlier attempt at the turn made, where the record has no room for what it gave: this
 * attempt’s calls before it took more.
 */
export function noRoomForResult(
  record: ToolCall,
  index: number,
  state: string,
  at: CallTimes,
  granted: Evaluator,
): Step {
  const message = 'An earlier attempt at this turn made the call, and the run’s record has no room for its result.';
  const step = refusal(record, index, state, at.startedAtMs, 'record_full', message, granted);
  return { ...step, outcome: 'execution', reason: 'result_too_large', endedAt: at.endedAtMs };
}

function refusal(
  record: ToolCall,
  index: number,
  state: string,
  now: number,
  reason: Exclude<NotMade, 'history_full'>,
  observation: string,
  granted: Pick<Evaluator, 'byId'>,
): Step {
  const call = record.calls[index] as RequestedCall;
  const isCut = reason === 'arguments_too_large';
  return make.agentStep({
    action: (granted.byId(call.tool)?.key ?? call.tool).slice(0, longestName),
    arguments: isCut ? call.arguments : '',
    observation,
    outcome: isCut ? 'validation' : 'policy_denied',
    reason,
    stateBefore: state,
    state,
    toolCallId: callIdOf(record, call, index),
    iteration: record.iteration,
    index,
    startedAt: now,
    endedAt: now,
  });
}

function messageOf(
  { calls, omittedCalls }: ToolCall,
  index: number,
  why: Exclude<NotMade, 'history_full'>,
  { callsPerTurn = 0, argumentBytes }: Limits,
): string {
  switch (why) {
    case 'too_many_calls': {
      const made = `The turn made ${calls.length + omittedCalls} calls and may make ${callsPerTurn}, so this one was not made`;
      const others = omittedCalls > 0 && index === calls.length - 1 ? `, nor the ${omittedCalls} behind it` : '';
      return `${made}${others}. Make fewer calls in a turn.`;
    }
    case 'arguments_too_large': {
      const bytes = calls[index]?.argumentsBytes ?? 0;
      return bytes > argumentBytes
        ? `The arguments have ${bytes} bytes and the limit is ${argumentBytes}. Send less in one call.`
        : `The arguments have ${bytes} bytes, and the record of the turn has no room for them. Send less in one turn.`;
    }
    case 'record_full':
      return 'The record of this run has no room for the call and what it may give, so it was not made. Answer with what there is.';
  }
}
