import type { ToolErrorCode, ToolErrorReason } from '../errors.js';
import type { JsonValue } from '../json.js';
import type { StepContent, StepQuestion } from '../run/step.js';
import type { ToolExecResult } from './types.js';

/**
 * One finished call, whatever asked for it and whatever runs it: its step is made from this. What the provider sent
 * for it as it came stays with the model's turn (ModelTurn.raw): nothing here can be influenced by it.
 */
export type ToolInvocationRecord = {
  readonly toolCallId: string;
  /** The tool's id as the model wrote it. */
  readonly name: string;
  /** The arguments as the model wrote them, JSON or not. */
  readonly args: string;
  /** Of what the tool gave, before redaction; null where it gave nothing of its declared shape. */
  readonly resultHash: string | null;
  /** When the tool gave it to an equal call before; null where it ran for this one. */
  readonly cachedAtMs: number | null;
  /** What of the result stands in the content store. */
  readonly content: readonly StepContent[];
  /** What the MCP server of the tool asked meanwhile. */
  readonly questions: readonly StepQuestion[];
  /** The rule of the configuration that refused the call; null where none did. */
  readonly rule: string | null;
  /** What was found out beside the record to decide about the call. */
  readonly facts: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
} & (
  { readonly result: JsonValue; readonly error: null } | { readonly result: null; readonly error: ToolInvocationError }
);

/** Why a call gave no result, in words that may be shown. */
interface ToolInvocationError {
  readonly code: ToolErrorCode;
  readonly reason: ToolErrorReason | null;
  readonly safeMessage: string;
}

/** When a call began and ended, in milliseconds since the epoch. */
export interface CallTimes {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

const noFacts: Readonly<Record<string, string>> = Object.freeze({});

/** The record of a call that has ended. */
export function invocationRecord(
  call: { readonly tool: string; readonly arguments: string },
  ended: ToolExecResult,
  { startedAtMs, endedAtMs }: CallTimes,
): ToolInvocationRecord {
  const { toolCallId, resultHash = null, cachedAtMs = null, content = [], questions = [] } = ended;
  const { rule = null, facts = noFacts } = ended;
  const ids = { toolCallId, name: call.tool, args: call.arguments };
  const of = { ...ids, resultHash, cachedAtMs, content, questions, rule, facts, startedAtMs, endedAtMs };
  if (ended.ok) return { ...of, result: ended.value, error: null };
  const { errorCode: code, reason = null, safeMessage } = ended;
  return { ...of, result: null, error: { code, reason, safeMessage } };
}
