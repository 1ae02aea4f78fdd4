import { topics } from '@sluice/contracts';
import type { AgentRequest, RequestTopic } from '@sluice/contracts';
import type { Verifier } from '@sluice/core';

/**
 * The topic that a request goes to: one that makes its call itself goes to the executor at once. Keys of a former
 * version have none for that, and its executors do not read there: then it takes the way of every request.
 */
export function topicOfRequest(
  { call }: Pick<AgentRequest, 'call'>,
  { signatures }: { readonly signatures: Pick<Verifier, 'since'> },
): RequestTopic {
  return call !== null && signatures.since('call') !== Infinity ? topics.calls : topics.requests;
}
