import { JsonTooLargeError } from '../plain-json.js';
import { cut } from '../well-formed.js';
import type { ToolErrorCode, ToolErrorReason } from '../errors.js';
import {
  ToolAnswerUnreadableError,
  ToolConnectionDeniedError,
  ToolFailedError,
  ToolOutcomeLostError,
  ToolProcessEndedError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
} from './types.js';
import type { Verdict } from './pipeline.js';
import type { BoundTool, ToolExecResult, ToolInvocationContext } from './types.js';

/** Characters of a message to the model. */
export const longestMessage = 4_096;

interface ResultLimit {
  /** UTF-8 bytes. */
  readonly resultBytes: number;
  readonly contentBytes: number;
}

export function misshapen(toolCallId: string): ToolExecResult {
  return failure(toolCallId, 'validation', 'The tool’s output does not have the declared shape.', 'output_invalid');
}

/** The tool ran, and what it did stands: only its result cannot be passed on. */
export function tooLarge(tool: BoundTool, toolCallId: string, bytes: number): ToolExecResult {
  return notPassedOn(tool, toolCallId, `The result is larger than the limit of ${bytes} bytes.`);
}

/** A result that is longer than a record, and that the content store did not take. */
export function notKept(tool: BoundTool, toolCallId: string, bytes: number): ToolExecResult {
  const message = `The result is larger than the ${bytes} bytes that a step has room for, and could not be kept elsewhere.`;
  return notPassedOn(tool, toolCallId, message);
}

function notPassedOn({ effect }: BoundTool, toolCallId: string, what: string): ToolExecResult {
  const next =
    effect === 'read_only'
      ? 'Ask for less: narrow the arguments or use a limit.'
      : 'The call took effect: do not make it again for its result, and look that up in another way.';
  return failure(toolCallId, 'execution', `${what} ${next}`, 'result_too_large');
}

/** Bytes that a result may have: where there is no store, what a record has room for. */
export function mostBytes({ resultBytes, contentBytes }: ResultLimit): number {
  return Math.max(resultBytes, contentBytes);
}

export function thrown(tool: BoundTool, toolCallId: string, error: unknown, limits: ResultLimit): ToolExecResult {
  if (isA(JsonTooLargeError, error)) return tooLarge(tool, toolCallId, mostBytes(limits));
  if (isA(ToolUserError, error)) return failure(toolCallId, 'execution', textOf(error), 'user_error');
  if (isA(ToolFailedError, error)) return failedInside(tool, toolCallId, textOf(error));
  if (isA(ToolUnavailableError, error)) return unavailable(toolCallId, error);
  if (isA(ToolConnectionDeniedError, error)) return noCredential(toolCallId, error);
  if (isA(ToolTimeoutError, error)) return lost(tool, toolCallId, 'The tool did not end in its time.', 'timeout');
  if (isA(ToolProcessEndedError, error)) return lost(tool, toolCallId, 'The tool’s process ended during the call.');
  if (isA(ToolAnswerUnreadableError, error)) return lost(tool, toolCallId, 'The answer could not be read.');
  if (isA(ToolOutcomeLostError, error)) return lost(tool, toolCallId, 'The connection was lost during the call.');
  return failure(toolCallId, 'execution', 'The tool failed. Try other arguments or another tool.');
}

/** The end was seen, and is no fault of the arguments. */
function failedInside({ effect }: BoundTool, toolCallId: string, what: string): ToolExecResult {
  const next =
    effect === 'read_only'
      ? 'Try again or use another tool.'
      : 'Find out whether it took effect before you call it again.';
  return failure(toolCallId, 'execution', `${what} ${next}`);
}

/** Whether the error says more than the model hears: a text, or a cause. */
export function isKeptBack(error: unknown): boolean {
  if (isA(JsonTooLargeError, error) || isA(ToolUserError, error)) return false;
  const told = [ToolFailedError, ToolUnavailableError, ToolConnectionDeniedError, ToolOutcomeLostError] as const;
  const isTold = told.some((kind) => isA<Error>(kind, error));
  return !isTold || hasCause(error as Error);
}

function hasCause(error: Error): boolean {
  try {
    return error.cause !== undefined;
  } catch {
    return true;
  }
}

/** instanceof, for what a hostile tool may throw as well: a proxy throws when it is looked at. */
export function isA<T extends Error>(kind: new (...given: never[]) => T, error: unknown): error is T {
  try {
    return error instanceof kind;
  } catch {
    return false;
  }
}

/** An error’s text, where it is one. */
export function textOf(error: Error): string {
  try {
    const text: unknown = error.message;
    return typeof text === 'string' && text !== '' ? text : 'The tool failed and did not say why.';
  } catch {
    return 'The tool failed and did not say why.';
  }
}

/**
 * A call whose end was not seen. Reading again is the model's to try; of anything else the outcome is not known, also
 * where the same call may be repeated: a new call of the model's is another one, with another key.
 */
export function lost(tool: BoundTool, toolCallId: string, what: string, reason?: ToolErrorReason): ToolExecResult {
  if (tool.effect === 'read_only') {
    return failure(toolCallId, 'execution', `${what} Try again or use another tool.`, reason);
  }
  const message = `${what} Whether it took effect is not known: find out before you call it again.`;
  return failure(toolCallId, 'execution', message, 'outcome_unknown');
}

export function unavailable(toolCallId: string, error: ToolUnavailableError): ToolExecResult {
  return failure(toolCallId, 'unavailable', `${textOf(error)} Try again later or use another tool.`, error.reason);
}

export function noCredential(toolCallId: string, error: ToolConnectionDeniedError): ToolExecResult {
  return failure(toolCallId, 'authz_denied', `${textOf(error)} Use another tool.`, 'connection_denied');
}

export function notBound(toolCallId: string, toolId: string): ToolExecResult {
  return failure(
    toolCallId,
    'unavailable',
    `The tool ${toolId} is not available now. Try again later or use another tool.`,
    'not_bound',
  );
}

/** The result of a call that a stage refused. */
export function refused(
  { code, message, reason, rule }: Verdict & { readonly ok: false },
  { toolCallId }: Pick<ToolInvocationContext, 'toolCallId'>,
): ToolExecResult {
  const result = failure(toolCallId, code, message, reason);
  return rule === undefined ? result : { ...result, rule };
}

/** The message is cut where it is long: it is prose for a model, and a list of a thousand bad arguments helps none. */
export function failure(
  toolCallId: string,
  errorCode: ToolErrorCode,
  message: string,
  reason?: ToolErrorReason,
): ToolExecResult {
  const whole = message.toWellFormed();
  const safeMessage = whole.length > longestMessage ? `${cut(whole, longestMessage)}…` : whole;
  return { toolCallId, ok: false, errorCode, safeMessage, ...(reason === undefined ? {} : { reason }) };
}
