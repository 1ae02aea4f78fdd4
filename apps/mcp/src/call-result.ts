import type { AgentStep, RunError } from '@sluice/contracts';
import type { Principal } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import { answerAsGiven, refusal, resultOf, withGroups } from '@sluice/mcp';
import type { CallResult } from '@sluice/mcp';
import { wholeAnswer } from './whole-answer.js';

interface CallIds {
  readonly requestId: string;
  readonly toolId: string;
}

/** As the tool’s server answered, where that is kept; else as the step has it. */
export async function resultOfStep(
  step: AgentStep,
  name: string,
  ids: CallIds,
  { tenantId, groups }: Principal,
  { content, log }: Pick<Runtime, 'content' | 'log'>,
): Promise<CallResult> {
  const whole = await wholeAnswer(step, { tenantId, runId: ids.requestId }, content);
  if (whole.kind === 'here') return answerAsGiven(whole.answer, step, ids);
  if (whole.kind === 'value') return resultOf({ ...step, observation: whole.text }, name, ids, groups);
  const result = resultOf(step, name, ids, groups);
  if (whole.kind === 'none') return result;
  log.warn({ request_id: ids.requestId, why: whole.why }, 'the content of a step cannot be given to an MCP client');
  return { ...result, _meta: { ...result._meta, 'sluice/content_gone': whole.why } };
}

/** Of a call that ended without a step. */
export function resultOfEnd(error: RunError | null, ids: CallIds, { groups }: Principal): CallResult {
  const { code, message } = error ?? { code: 'unavailable', message: 'The call ended without a result.' };
  const category = code === 'authz_denied' ? 'permission' : 'system';
  return refusal(category, withGroups(message, groups), ids, { code, reason: null });
}
