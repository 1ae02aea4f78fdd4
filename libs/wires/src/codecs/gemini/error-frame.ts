import { type StreamFailure, wordsOf } from '../../screen/failure.js';
import { sseFrame } from '../../stream/frames.js';

export function errorFrame(failure: StreamFailure): Uint8Array {
  const { error, text } = wordsOf(failure);
  return sseFrame(JSON.stringify({ error: error ?? { code: failure.status, message: text, status: 'UNAVAILABLE' } }));
}
