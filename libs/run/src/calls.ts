import { deepestJson, halfWritten, isDeeperThan, parseExactJson, withPlainNumbers } from '@sluice/core';
import type { JsonValue, ToolExecResult, ToolInvocationContext } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { RequestedCall, ToolCall } from '@sluice/contracts';

export const longestName = 128;

/** The id a call has from its start to its result: the model’s own, or one made from its place. */
export function callIdOf(record: Pick<ToolCall, 'iteration'>, call: RequestedCall, index: number): string {
  const { length } = call.toolCallId;
  return length >= 1 && length <= longestName ? call.toolCallId : `call-${record.iteration}-${index}`;
}

/**
 * Names this very call for ever: run, iteration, place, tool and arguments. `run` is what the run is called where it
 * is claimed.
 */
export function callKeyOf(run: string, { iteration }: Pick<ToolCall, 'iteration'>, call: RequestedCall, index: number) {
  const hash = sha256(call.arguments).slice(0, 32);
  return `effect/${run}/${iteration}/${index}/${call.tool.slice(0, longestName)}/${hash}`;
}

/**
 * The arguments with their numbers as written, or undefined if they are not JSON. Empty text is what some models
 * write for no arguments.
 */
export function parseArguments(text: string): JsonValue | undefined {
  if (text.trim() === '') return {};
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

/** Who acts, as the filter found it; the record’s grant has been verified. */
export function callerOf({ run }: ToolCall): Pick<ToolInvocationContext, 'actorId' | 'tenantId' | 'subjectId'> {
  if (run.principal === null) throw new Error('A verified ToolCall says who asks.');
  const { actorId, tenantId, subjectId } = run.principal;
  return { actorId, tenantId, ...(subjectId === null ? {} : { subjectId }) };
}

/**
 * What a model wrote as JSON, for code of ours that goes by it: every number is one, however it was spelled (`1.0`,
 * `5e-1`). Undefined for what is no JSON, or nested deeper than JSON may be. What is passed on to a tool is
 * parseArguments, which keeps the spelling.
 */
export function readWritten(text: string): JsonValue | undefined {
  const written = parseArguments(text);
  return written === undefined || isDeeperThan(written, deepestJson) ? undefined : withPlainNumbers(written);
}

/** The message for arguments that are no JSON. It does not repeat them: they may hold a secret. */
export function invalidJson(toolCallId: string, args: string): ToolExecResult {
  const safeMessage = args === halfWritten ? cutOff : 'Invalid tool arguments JSON';
  return { toolCallId, ok: false, errorCode: 'invalid_json', safeMessage };
}

const cutOff =
  'The turn reached its limit of tokens before the arguments of this call were whole, so it was not made. Make fewer or shorter calls in a turn.';

/** What is said of a call that did not begin since its run is cancelled. */
export const cancelledBefore = 'The run was cancelled before this call began.';

export function wasCancelled(toolCallId: string): ToolExecResult {
  return { toolCallId, ok: false, errorCode: 'execution', reason: 'cancelled', safeMessage: cancelledBefore };
}

export function timeWasUp(toolCallId: string): ToolExecResult {
  const safeMessage = 'The run’s time was up before this call began.';
  return { toolCallId, ok: false, errorCode: 'execution', reason: 'deadline', safeMessage };
}
