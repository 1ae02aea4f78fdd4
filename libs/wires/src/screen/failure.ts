import type { JsonObject, JsonValue } from '@sluice/core';
import { objectAt, parsed } from './screen.js';

/** Why a stream that has begun does not go on. */
export interface StreamFailure {
  /** The status with which the provider refused, or the one that says what happened. */
  readonly status: number;
  readonly message: string;
  /** What the provider said of it; null where it said nothing. */
  readonly body: string | null;
}

/** The provider’s own words where it has some, else the message. */
export function wordsOf({ message, body }: StreamFailure): {
  readonly error: JsonObject | null;
  readonly text: JsonValue;
} {
  const said = body === null ? null : parsed(body);
  const error = objectAt(said, 'error');
  return { error, text: error?.['message'] ?? said?.['message'] ?? message };
}
