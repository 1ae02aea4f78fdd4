import { type StreamFailure, wordsOf } from '../../screen/failure.js';
import { sseFrame } from '../../stream/frames.js';

export function errorFrame(failure: StreamFailure): Uint8Array {
  const { error, text } = wordsOf(failure);
  const code = error?.['code'] ?? error?.['type'] ?? 'server_error';
  return sseFrame(JSON.stringify({ type: 'error', code, message: text, param: error?.['param'] ?? null }), 'error');
}
