import {
  editNote,
  isJsonObject,
  isKeptBack,
  saysAll,
  isRejectionReason,
  rejectionReasons,
  toolErrors,
  wildcard,
} from '@sluice/core';
import type { JsonObject, JsonValue, ToolErrorCode } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';
import { blocksIn } from './blocks.js';
import type { Block } from './blocks.js';
import { ownGroups, saidError } from './kept-back.js';

/** The three kinds of tool errors of the protocol’s guide: they invite another call, another try, or another right. */
export const errorCategories = ['user_input', 'system', 'permission'] as const;
type ErrorCategory = (typeof errorCategories)[number];

const categories: Readonly<Record<ToolErrorCode, ErrorCategory>> = {
  policy_denied: 'permission',
  authz_denied: 'permission',
  unavailable: 'system',
  validation: 'user_input',
  execution: 'system',
  redaction_failed: 'system',
  invalid_json: 'user_input',
};

/**
 * The category of a failed call (XM-4). What the tool `said` itself is about the call (M-33), unless it invites
 * another try or denies a right; a result that does not fit its shape is not the caller’s mistake.
 */
export function categoryOf(code: string, reason: string | null, said = ''): ErrorCategory {
  if (!Object.hasOwn(categories, code)) return 'system';
  if (code === 'execution' && reason === 'user_error')
    return invitesRetry(said) ? 'system' : deniesRight.test(said) ? 'permission' : 'user_input';
  return code === 'validation' && reason === 'output_invalid' ? 'system' : categories[code as ToolErrorCode];
}

/** The result of a `tools/call`, as the protocol has it. */
export type CallResult = {
  readonly content: Block[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError: boolean;
  readonly _meta: Record<string, unknown>;
};

/**
 * What a step says to an MCP client: a text is sent as it is, a list of content blocks as that, any other value as
 * its JSON text (XB-41).
 */
export function resultOf(
  step: AgentStep,
  name: string,
  ids: { readonly requestId: string; readonly toolId?: string },
  /** Those of the caller. */
  groups: readonly string[] = [wildcard],
): CallResult {
  const { outcome, reason, observation, cachedAt } = step;
  if (outcome !== 'ok') {
    const said = `${noteOf(step)}${errorText(clientsView(step, ids.toolId, name), name)}${isKeptBack(reason) ? ownGroups(groups) : ''}`;
    return refusal(categoryOf(outcome, reason, observation), said, ids, saidError(step));
  }
  const value = jsonIn(observation);
  return {
    content: [...edited(step), ...((value === null ? null : blocksIn(value)) ?? [text(observation)])],
    ...(isJsonObject(value) ? { structuredContent: value as Record<string, unknown> } : {}),
    isError: false,
    _meta: {
      'sluice/request_id': ids.requestId,
      ...(cachedAt === null ? {} : { 'sluice/cached_at': cachedAt }),
    },
  };
}

/** What an MCP server answered, as it answered: its blocks in their order, with what it said beside them. */
export function answerAsGiven(
  answer: JsonObject,
  step: AgentStep,
  { requestId }: { readonly requestId: string },
): CallResult {
  const { cachedAt } = step;
  const cached = cachedAt === null ? {} : { 'sluice/cached_at': cachedAt };
  const own = isJsonObject(answer['_meta']) ? answer['_meta'] : {};
  const whole = answer as unknown as CallResult;
  return {
    ...whole,
    ...(step.edited === null ? {} : { content: [...edited(step), ...whole.content] }),
    isError: false,
    _meta: { ...own, 'sluice/request_id': requestId, ...cached },
  };
}

/** What an approver changed the call’s arguments to, in front of its result. */
function edited(step: Pick<AgentStep, 'edited'>): readonly Block[] {
  return step.edited === null ? [] : [text(editNote(step.edited))];
}

function noteOf(step: Pick<AgentStep, 'edited'>): string {
  return step.edited === null ? '' : `${editNote(step.edited)}\n\n`;
}

/** A tool error in the result, where the model reads it and can act on it (M-30). */
export function refusal(
  category: ErrorCategory,
  message: string,
  ids: { readonly requestId: string | null },
  about: { readonly code: string; readonly reason: string | null },
): CallResult {
  const run = ids.requestId === null ? {} : { 'sluice/request_id': ids.requestId };
  return { content: [text(message)], isError: true, _meta: { ...run, 'sluice/error': { category, ...about } } };
}

/** The call waits for a decision; called again after it, it goes on. */
export function pendingResult(
  { approvalId, expiresAt }: { readonly approvalId: string; readonly expiresAt: number },
  name: string,
  ids: { readonly requestId: string },
  notTaken: string | null = null,
  /** What else there is to say about deciding. */
  about = '',
): CallResult {
  const until = new Date(expiresAt).toISOString();
  const without =
    notTaken !== null && isRejectionReason(notTaken)
      ? `The decision does not count: ${rejectionReasons[notTaken]} `
      : '';
  const message = `${without}The call of ${name} waits for an approval (${approvalId}, until ${until}), so it was not made yet. ${about}Call ${name} again with the same arguments after the decision to get its result; until then the answer stays this one.`;
  const result = refusal('permission', message, ids, { code: 'pending', reason: 'approval' });
  const approval = { approval_id: approvalId, expires_at: expiresAt, status: 'pending', not_taken: notTaken };
  return { ...result, _meta: { ...result._meta, 'sluice/approval': approval } };
}

/** A step whose sentence, where the executor wrote it, has the client's name of the tool in place of its id. */
function clientsView(step: AgentStep, id: string | undefined, name: string): AgentStep {
  if (id === undefined || step.outcome !== 'unavailable') return step;
  // Whole names: the id of one tool may be how that of another begins.
  const named = step.observation.split(/([\w-]+)/).map((word) => (word === id ? name : word));
  return { ...step, observation: named.join('') };
}

const unknownEnds: ReadonlySet<string> = new Set(['outcome_unknown', 'service_lost']);

/**
 * The sentence that a model reads: what happened, and what to do. Nothing of a refusal names what the caller cannot
 * see (M-35).
 */
function errorText({ outcome, reason, observation, stateBefore }: AgentStep, name: string): string {
  if (reason === 'not_eligible_state')
    return `Access denied: ${name} is not available in the state ${stateBefore}. Call tools/list for the tools that are available now.`;
  // The executor's own sentence has ids of the log, where this client has names of its own.
  if (reason === 'not_bound')
    return `${name} is not available now. Please try again, or call tools/list for the tools that are available now.`;
  if (saysAll(reason)) return observation;
  if (reason !== null && unknownEnds.has(reason))
    return `${observation} Do not repeat the call before you know whether it took effect.`;
  if (reason === 'user_error')
    return categoryOf(outcome, reason, observation) === 'user_input'
      ? `${observation} If the arguments are the cause, correct them and call ${name} again.`
      : observation;
  switch (categoryOf(outcome, reason)) {
    case 'permission':
      return `Access denied: this caller may not use ${name} now. This operation requires additional permissions; ask for them, or go on without it.`;
    case 'user_input':
      return `${observation} Correct the arguments and call ${name} again.`;
    case 'system':
      return `${observation}${nextStep(outcome, reason, observation)}`;
  }
}

/** As the protocol’s guide has a tool’s own errors of the other two kinds. */
const deniesRight = /^(?:error: *)?(?:access|permission) denied\b/i;

function invitesRetry(message: string): boolean {
  return /\b(?:try again|retry)\b(?! with\b)/i.test(message);
}

/** Most messages say what to do next, and it is said once (M-34). */
function nextStep(code: string, reason: string | null, message: string): string {
  if (mayRetry(code, reason)) return invitesRetry(message) ? '' : ' Please try again.';
  return code === 'redaction_failed' || reason === 'output_invalid' ? ' Go on without it.' : '';
}

function mayRetry(code: string, reason: string | null): boolean {
  if (reason === 'timeout') return true;
  return Object.hasOwn(toolErrors, code) && toolErrors[code as ToolErrorCode].retryable;
}

/** The object or list that a result writes; null for a text. */
function jsonIn(observation: string): JsonValue {
  if (!/^\s*[{[]/.test(observation)) return null;
  try {
    return JSON.parse(observation) as JsonValue;
  } catch {
    return null;
  }
}

function text(of: string): Block {
  return { type: 'text', text: of };
}
