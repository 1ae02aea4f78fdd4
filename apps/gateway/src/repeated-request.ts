import type { RequestTopic } from '@sluice/contracts';
import type { Request } from 'express';
import type { Principal } from '@sluice/core';
import { recordContent, requestIds, sha256 } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { Refusal } from './refusal.js';
import type { NamedRequest } from './requests.js';

/**
 * The request_id that the header `idempotency-key` stands for: the caller’s own, whatever keys others choose. Null
 * without the header.
 */
export function idOfKey(http: Pick<Request, 'get'>, { actorId, subjectId }: Principal): string | null {
  const key = http.get('idempotency-key');
  if (key === undefined) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Refusal(
      400,
      'invalid_request',
      'The header idempotency-key must have 1 to 255 characters of ASCII, without blanks.',
    );
  return `key-${sha256(JSON.stringify([actorId, subjectId, key])).slice(0, 32)}`;
}

/** Whether both ask for the same, so that the second is an attempt at the first once more. */
export function isSameRequest(first: Incoming<RequestTopic>, request: NamedRequest): boolean {
  const before = { ...first.record, ...requestIds(first, first.record) };
  return recordContent('AgentRequest', before) === recordContent('AgentRequest', request);
}
