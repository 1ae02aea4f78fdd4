import { type StreamFailure, wordsOf } from '../../screen/failure.js';
import { awsErrorFrame } from '../../stream/frames.js';

/** Amazon’s, of whichever model. */
export function errorFrame(failure: StreamFailure): Uint8Array {
  return awsErrorFrame(exceptionOf(failure.status), JSON.stringify({ message: wordsOf(failure).text }));
}

function exceptionOf(status: number): string {
  if (status === 429) return 'throttlingException';
  if (status === 503) return 'serviceUnavailableException';
  return status >= 400 && status < 500 ? 'validationException' : 'internalServerException';
}
