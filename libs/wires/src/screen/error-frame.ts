import type { JsonObject } from '@sluice/core';
import { awsErrorFrame, sseFrame } from '../stream/frames.js';
import type { WireName } from '../types.js';
import { objectAt, parsed } from './screen.js';

/** Why a stream that has begun does not go on. */
export interface StreamFailure {
  /** The status with which the provider refused, or the one that says what happened. */
  readonly status: number;
  readonly message: string;
  /** What the provider said of it; null where it said nothing. */
  readonly body: string | null;
}

/**
 * The event by which a wire says that a stream ends in an error: the provider’s own words where it has some, else the
 * message.
 */
export function errorFrame(wire: WireName, { status, message, body }: StreamFailure): Uint8Array {
  const said = body === null ? null : parsed(body);
  const error = objectAt(said, 'error');
  const text = error?.['message'] ?? said?.['message'] ?? message;
  switch (wire) {
    case 'openai-chat':
      return sseFrame(JSON.stringify({ error: error ?? plainError(text, status) }));
    case 'openai-responses': {
      const code = error?.['code'] ?? error?.['type'] ?? 'server_error';
      return sseFrame(JSON.stringify({ type: 'error', code, message: text, param: error?.['param'] ?? null }), 'error');
    }
    case 'anthropic':
      return sseFrame(JSON.stringify({ type: 'error', error: error ?? { type: 'api_error', message: text } }), 'error');
    case 'gemini':
      return sseFrame(JSON.stringify({ error: error ?? { code: status, message: text, status: 'UNAVAILABLE' } }));
    case 'bedrock':
    case 'bedrock-anthropic':
      return awsErrorFrame(exceptionOf(status), JSON.stringify({ message: text }));
  }
}

function plainError(message: unknown, status: number): JsonObject {
  return {
    message: String(message),
    type: status === 429 ? 'rate_limit_error' : 'server_error',
    param: null,
    code: null,
  };
}

function exceptionOf(status: number): string {
  if (status === 429) return 'throttlingException';
  if (status === 503) return 'serviceUnavailableException';
  return status >= 400 && status < 500 ? 'validationException' : 'internalServerException';
}
