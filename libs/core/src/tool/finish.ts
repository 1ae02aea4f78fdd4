import { fitsIn, jsonBytes, JsonTooLargeError, NotJsonError } from '../plain-json.js';
import { wellFormed } from '../well-formed.js';
import type { JsonValue } from '../json.js';
import type { ToolErrorReason } from '../errors.js';
import { failure, isA, misshapen, mostBytes, notBound, notKept, tooLarge } from './refusals.js';
import { firstPage, leastPageBytes } from './result-page.js';
import type { ToolInvocation, ToolLimits, ToolPipeline } from './pipeline.js';
import type { BoundTool, ToolExecResult } from './types.js';
import type { StepContent } from '../run/step.js';

/**
 * What a tool gave, as it may be passed on: of its declared shape, redacted and within what content may have (stages 9
 * and 10).
 */
export function finish(
  tool: BoundTool,
  invocation: ToolInvocation,
  rawOutput: unknown,
  pipeline: Pick<ToolPipeline, 'hashResult' | 'limits' | 'onFault'>,
): ToolExecResult {
  const { toolCallId } = invocation.context;
  const most = mostBytes(pipeline.limits);
  let output: JsonValue;
  try {
    output = tool.validateOutput(rawOutput);
  } catch (error) {
    if (isA(JsonTooLargeError, error)) return tooLarge(tool, toolCallId, most);
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
  const most = mostBytes(limits);
  try {
    const value = tool.redact(output);
    jsonBytes(value, most);
    return { toolCallId, ok: true, value: wellFormed(value) };
  } catch (error) {
    if (isA(JsonTooLargeError, error)) return tooLarge(tool, toolCallId, most);
    onFault(tool, invocation, 'redaction', error);
    if (isA(NotJsonError, error)) return misshapen(toolCallId);
    return failure(toolCallId, 'redaction_failed', 'The tool’s result could not be redacted, so it is withheld.');
  }
}

/** A result that a record has room for; a larger one is a failure. */
function withinLimits(tool: BoundTool, result: ToolExecResult, limits: ToolLimits): ToolExecResult {
  const { toolCallId } = result;
  if (!result.ok)
    return { ...failure(toolCallId, result.errorCode, result.safeMessage, result.reason), ...hashOf(result) };
  if (fitsIn(result.value, limits.resultBytes)) return result;
  return { ...tooLarge(tool, toolCallId, limits.resultBytes), ...hashOf(result) };
}

/**
 * A result as a record has it, without credentials. A larger one goes into the content store, and its first page stands
 * in its place.
 */
export async function fitted(
  tool: BoundTool,
  invocation: ToolInvocation,
  result: ToolExecResult,
  { limits, keepResult }: Pick<ToolPipeline, 'limits' | 'keepResult'>,
): Promise<ToolExecResult> {
  const { resultBytes, contentBytes } = limits;
  if (!result.ok || resultBytes < leastPageBytes) return withinLimits(tool, result, limits);
  if (fitsIn(result.value, resultBytes)) return result;
  const { toolCallId, value } = result;
  // What stands in a credential's place may have made it longer.
  if (!fitsIn(value, contentBytes)) return { ...tooLarge(tool, toolCallId, contentBytes), ...hashOf(result) };
  const [type, text] = typeof value === 'string' ? ['text/plain', value] : ['application/json', JSON.stringify(value)];
  const name: StepContent | null = contentBytes > resultBytes ? await keepResult(invocation, type, text) : null;
  if (name === null) return { ...notKept(tool, toolCallId, resultBytes), ...hashOf(result) };
  return { ...result, value: firstPage(value, name, resultBytes), content: [name] };
}

function hashOf({ resultHash }: ToolExecResult): { readonly resultHash?: string } {
  return resultHash === undefined ? {} : { resultHash };
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
  return withinLimits(tool, pipeline.conceal(tool, finish(tool, invocation, back.answer, pipeline)), pipeline.limits);
}
