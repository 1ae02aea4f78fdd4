import type { Operation } from '../openapi/operation.js';

type DoorOperation = Pick<Operation, 'id' | 'who' | 'method' | 'path'>;

/**
 * The routes that speak a provider’s wire. The description (`/openapi.json`) has none of them, since those who made the
 * wires describe them, and clients of theirs are what asks here; docs/doors.md says what differs.
 */
export const doorOperations: readonly DoorOperation[] = [
  { id: 'listDoorModels', who: 'asker', method: 'get', path: '/openai/v1/models' },
  { id: 'chatCompletion', who: 'asker', method: 'post', path: '/openai/v1/chat/completions' },
  { id: 'createResponse', who: 'asker', method: 'post', path: '/openai/v1/responses' },
  { id: 'readResponse', who: 'asker', method: 'get', path: '/openai/v1/responses/{response_id}' },
  { id: 'createMessage', who: 'asker', method: 'post', path: '/anthropic/v1/messages' },
];
