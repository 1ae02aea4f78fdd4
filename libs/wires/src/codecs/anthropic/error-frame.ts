import { type StreamFailure, wordsOf } from '../../screen/failure.js';
import { sseFrame } from '../../stream/frames.js';

/** Of server-sent events; over Bedrock an error is Amazon’s. */
export function errorFrame(failure: StreamFailure): Uint8Array {
  const { error, text } = wordsOf(failure);
  return sseFrame(JSON.stringify({ type: 'error', error: error ?? { type: 'api_error', message: text } }), 'error');
}
