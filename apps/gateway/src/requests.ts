import { randomUUID } from 'node:crypto';
import { maxPayloadBytes, payloadBytes, recordFromJson, ShapeError } from '@sluice/contracts';
import type { AgentRequest, RecordOf, Topic } from '@sluice/contracts';
import { isOwnRequestId, ownRequestId, requestProblem } from '@sluice/run';
import type { StepBounds } from '@sluice/run';
import { Refusal } from './refusal.js';

/** The record of a body in the wire’s shape. Throws Refusal(400) with what is wrong. */
export function recordOf<T>(name: string, body: unknown): T {
  try {
    return recordFromJson(name, body) as T;
  } catch (error) {
    if (error instanceof ShapeError)
      throw new Refusal(400, 'invalid_request', error.message.replace(/^\$/, 'The body'));
    throw error;
  }
}

export type NamedRequest = AgentRequest & { readonly requestId: string; readonly sessionId: string };

/**
 * The AgentRequest of a body; ids that it leaves out are made here. `isNamed`: its sender chose the request_id, or
 * the key that stands for it.
 */
export function requestOf(
  sent: unknown,
  ofKey: string | null = null,
  limits: StepBounds | null = null,
): { readonly request: NamedRequest; readonly isNamed: boolean } {
  const given = recordOf<AgentRequest>('AgentRequest', sent);
  const body = sent as { readonly request_id?: unknown; readonly session_id?: unknown };
  if (ofKey !== null && given.requestId)
    throw new Refusal(400, 'invalid_request', 'Give a request_id or the header idempotency-key, not both.');
  const requestId = given.requestId || (ofKey ?? randomUUID());
  const ids = { requestId, sessionId: given.sessionId || requestId };
  // Such an id would become another one, and stands in no URL.
  if (![body.request_id, body.session_id].every((id) => typeof id !== 'string' || id.isWellFormed()))
    throw new Refusal(
      400,
      'invalid_request',
      'request_id and session_id must be well-formed Unicode, without halves of surrogate pairs.',
    );
  if (/^\.\.?$/.test(requestId))
    throw new Refusal(
      400,
      'invalid_request',
      'request_id is a part of an address here, so it must be neither . nor ..',
    );
  if (isOwnRequestId(requestId)) throw new Refusal(400, 'invalid_request', ownRequestId);
  if (given.clientTools !== null)
    throw new Refusal(400, 'invalid_request', 'client_tools is what doors write. Send tools through one of them.');
  const problem = emptyIdIn(sent) ?? requestProblem(ids, given, limits);
  if (problem !== null) throw new Refusal(400, 'invalid_request', problem);
  return { request: { ...given, ...ids }, isNamed: Boolean(given.requestId) || ofKey !== null };
}

/** An id that is left out is made here; one that is written and empty names no call. */
function emptyIdIn(sent: unknown): string | null {
  const { history } = sent as { readonly history?: readonly { readonly tool_call_id?: unknown }[] };
  const place = history?.findIndex((step) => step.tool_call_id === '') ?? -1;
  return place === -1 ? null : `history[${place}].tool_call_id is empty. Give it 1 to 128 characters, or leave it out.`;
}

/** Throws Refusal(413) for what is larger than a record may be. */
export function requireSize<T extends Topic>(topic: T, record: RecordOf<T>): void {
  if (payloadBytes(topic, record) > maxPayloadBytes)
    throw new Refusal(413, 'too_large', `The record is larger than the ${maxPayloadBytes} bytes that one may have.`);
}
