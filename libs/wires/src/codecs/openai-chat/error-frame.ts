import { type StreamFailure, wordsOf } from '../../screen/failure.js';
import { sseFrame } from '../../stream/frames.js';

export function errorFrame(failure: StreamFailure): Uint8Array {
  const { error, text } = wordsOf(failure);
  const type = failure.status === 429 ? 'rate_limit_error' : 'server_error';
  return sseFrame(JSON.stringify({ error: error ?? { message: String(text), type, param: null, code: null } }));
}
