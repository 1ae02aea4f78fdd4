import { runErrorOf } from '@sluice/core';
import type { RunErrorCode, Tenant } from '@sluice/core';
import { isRequestTopic, maxPayloadBytes, payloadBytes, requestIds, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Run } from '@sluice/contracts';
import type { Dead } from '@sluice/bus';
import { isClosing } from '../approvals/open.js';
import { errorResponse } from './responses.js';

/**
 * The end of the run whose record became a dead letter, and what was asked; null if the record was on no run’s way or
 * that is unknown. `tenant` is whose run it is, where the record itself does not say.
 */
export function endOfDead(
  dead: Dead,
  tenant: Tenant,
  endedAt: number,
): { readonly response: AgentResponse; readonly asked: Pick<AgentRequest, 'group' | 'state'> } | null {
  const about = whatIsKnown(dead);
  if (about === null) return null;
  const error = { code: codeOfEnd(dead), message: messageOf(dead) };
  const telling = (request: AgentRequest | null) => errorResponse(about, error, { ...about, request, tenant }, endedAt);
  return { response: fitting(about.request, telling), asked: about.request ?? { group: null, state: null } };
}

/**
 * The end with as much of what was asked as there is room for: what was too large for the run to go on may be so for
 * telling of it.
 */
function fitting(
  request: AgentRequest | null,
  telling: (request: AgentRequest | null) => AgentResponse,
): AgentResponse {
  if (request === null) return telling(null);
  const whole = telling(request);
  if (fits(whole)) return whole;
  const brief = telling({ ...request, question: '', call: null, history: [] });
  return fits(brief) ? brief : telling(null);
}

function fits(response: AgentResponse): boolean {
  return payloadBytes(topics.responses, response) <= maxPayloadBytes;
}

interface Known {
  readonly requestId: string;
  readonly sessionId: string;
  readonly request: AgentRequest | null;
  readonly run: Run | null;
  readonly configVersion: string;
}

function whatIsKnown(dead: Dead): Known | null {
  if (dead.message === null) {
    const read = isRequestTopic(dead.topic) ? readIds(dead.value) : { requestId: null, sessionId: null };
    const ids = requestIds(dead, read);
    const readable = dead.key !== '' || read.sessionId !== null || read.requestId !== null;
    return isRequestTopic(dead.topic) && readable ? { ...ids, request: null, run: null, configVersion: '' } : null;
  }
  const { message } = dead;
  switch (message.topic) {
    case 'agent.requests':
    case 'agent.calls':
      return { ...requestIds(message, message.record), request: message.record, run: null, configVersion: '' };
    case 'agent.toolsets':
    case 'agent.tool-calls': {
      const { requestId, sessionId, request, run, configVersion } = message.record;
      return { requestId, sessionId, request, run, configVersion };
    }
    case 'agent.steps': {
      const { requestId, sessionId, next, run, configVersion } = message.record;
      return { requestId, sessionId, request: next, run, configVersion };
    }
    case 'agent.approvals': {
      // Only the outcome that was taken is on the loop: what asks or decides leaves the turn where it waits.
      const { outcome } = message.record;
      if (outcome === null || !isClosing(outcome)) return null;
      const { requestId, sessionId } = outcome;
      return { requestId, sessionId, request: null, run: null, configVersion: '' };
    }
    case 'agent.responses': {
      // The end of an agent’s run: what waits for it is the run that called it.
      const parent = message.record.run?.parent ?? null;
      if (parent === null) return null;
      const { requestId, sessionId } = parent;
      return { requestId, sessionId, request: null, run: null, configVersion: '' };
    }
    default:
      return null;
  }
}

/** The ids of a payload that has not the topic's shape but is JSON all the same. */
function readIds(value: Uint8Array): { requestId: string | null; sessionId: string | null } {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(value).toString('utf8'));
  } catch {
    // Not JSON: then there is nothing to read, and the record's key has to do.
  }
  const member = (name: string): string | null => {
    const found = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
    return typeof found === 'string' && found !== '' ? found : null;
  };
  return { requestId: member('request_id'), sessionId: member('session_id') };
}

/** Whether the end may be one that a dead letter made, behind which a redrive can go on. */
export function mayBeOfDead({ error }: Pick<AgentResponse, 'error'>): boolean {
  return error !== null && runErrorOf(error.code)?.byDeadLetter === true;
}

function codeOfEnd(dead: Dead): RunErrorCode {
  if (isRequestTopic(dead.topic) && (dead.code === 'undecodable' || dead.code === 'invalid_request'))
    return 'invalid_request';
  if (dead.code === 'output_too_large') return 'size_exceeded';
  const fault = dead.lastFault ?? dead.code;
  return fault === 'model_refused' || fault === 'model_unreachable' ? 'model_failed' : 'dead_lettered';
}

/**
 * What was undecodable or refused is shown; what failed unforeseen or again and again is for operators alone. A
 * former version showed the last fault’s own words, and its letters do not name that fault.
 */
function messageOf(dead: Dead): string {
  if (dead.code === 'unexpected')
    return 'A record of this run could not be processed. It is kept among the dead letters.';
  switch (dead.lastFault) {
    case null:
      return dead.reason;
    case 'model_unreachable':
      return 'The model could not be reached, however often it was asked.';
    default:
      return 'A record of this run was tried again and again and could not be processed. It is kept among the dead letters.';
  }
}
