import { jsonBytes, JsonTooLargeError, NotJsonError } from '../plain-json.js';
import { wellFormed } from '../well-formed.js';
import type { JsonValue } from '../json.js';
import type { ToolErrorReason } from '../errors.js';
import { failure, isA, misshapen, notBound, tooLarge } from './refusals.js';
import type { ToolInvocation, ToolLimits, ToolPipeline } from './pipeline.js';
import type { BoundTool, ToolExecResult } from './types.js';

/** What a tool gave, as it may be passed on: of its declared shape, redacted and within the limit (stages 9 and 10). */
export function finish(
  tool: BoundTool,
  invocation: ToolInvocation,
  rawOutput: unknown,
  pipeline: Pick<ToolPipeline, 'hashResult' | 'limits' | 'onFault'>,
): ToolExecResult {
  const { toolCallId } = invocation.context;
  const { limits } = pipeline;
  let output: JsonValue;
  try {
    output = tool.validateOutput(rawOutput);
  } catch (error) {
    if (isA(JsonTooLargeError, error)) return tooLarge(toolCallId, limits);
    pipeline.onFault(tool, invocation, 'output', error);
    return misshapen(toolCallId);
  }
  const text = writtenOut(output);
  const hash = text === null ? {} : { resultHash: pipeline.hashResult(invocation, text) };
  return { ...redacted(tool, invocation, output, pipeline), ...hash };
}

/** Null for what is nested deeper than can be written; redaction may leave something of it that can. */
function writtenOut(output: JsonValue): string | null {
  try {
    return JSON.stringify(output);
  } catch {
    return null;
  }
}

function redacted(
  tool: BoundTool,
  invocation: ToolInvocation,
  output: JsonValue,
  { limits, onFault }: Pick<ToolPipeline, 'limits' | 'onFault'>,
): ToolExecResult {
  const { toolCallId } = invocation.context;
  try {
    const value = tool.redact(output);
    jsonBytes(value, limits.resultBytes);
    return { toolCallId, ok: true, value: wellFormed(value) };
  } catch (error) {
    if (isA(JsonTooLargeError, error)) return tooLarge(toolCallId, limits);
    onFault(tool, invocation, 'redaction', error);
    if (isA(NotJsonError, error)) return misshapen(toolCallId);
    return failure(toolCallId, 'redaction_failed', 'The tool’s result could not be redacted, so it is withheld.');
  }
}

/** A result within its limits again, where what stands in a credential’s place made it longer. */
export function withinLimits(result: ToolExecResult, limits: ToolLimits): ToolExecResult {
  const { toolCallId, resultHash } = result;
  const hash = resultHash === undefined ? {} : { resultHash };
  if (!result.ok) return { ...failure(toolCallId, result.errorCode, result.safeMessage, result.reason), ...hash };
  try {
    jsonBytes(result.value, limits.resultBytes);
    return result;
  } catch (error) {
    if (isA(JsonTooLargeError, error)) return { ...tooLarge(toolCallId, limits), ...hash };
    throw error;
  }
}

/** How the run ended that a call of an agent was. */
export type HandedBack =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly reason: ToolErrorReason; readonly message: string };

/**
 * The result of a call that was handed over: every stage before it was gone through then, so what is left is what any
 * tool’s output goes through.
 */
export function takeBack(
  invocation: ToolInvocation,
  back: HandedBack,
  pipeline: Pick<ToolPipeline, 'source' | 'hashResult' | 'conceal' | 'onResult' | 'onFault' | 'limits'>,
): ToolExecResult {
  const result = ended(invocation, back, pipeline);
  pipeline.onResult(invocation, result);
  return result;
}

function ended(
  invocation: ToolInvocation,
  back: HandedBack,
  pipeline: Pick<ToolPipeline, 'source' | 'hashResult' | 'conceal' | 'onFault' | 'limits'>,
): ToolExecResult {
  const { toolId, context } = invocation;
  if (!back.ok) return failure(context.toolCallId, 'execution', back.message, back.reason);
  const tool = pipeline.source.getBoundTool(toolId);
  if (tool === undefined) return notBound(context.toolCallId, toolId);
  return withinLimits(pipeline.conceal(tool, finish(tool, invocation, back.answer, pipeline)), pipeline.limits);
}
