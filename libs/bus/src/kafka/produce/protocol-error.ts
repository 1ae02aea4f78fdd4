import { createErrorFromCode } from 'kafkajs/src/protocol/error.js';

/** What brokers answer since kafkajs 2.2.4 was made. */
const newer: ReadonlyMap<number, { readonly type: string; readonly message: string }> = new Map([
  [90, { type: 'PRODUCER_FENCED', message: 'There is a newer producer with the same transactional id' }],
  [120, { type: 'TRANSACTION_ABORTABLE', message: 'The transaction can only be aborted' }],
]);

/** The error that a broker’s number stands for, like kafkajs’s own. */
export function protocolError(code: number): Error {
  const known = newer.get(code);
  if (known === undefined) return createErrorFromCode(code);
  return Object.assign(new Error(known.message), { type: known.type, code, retriable: false });
}

/** Throws the error of the number, unless it says that there is none. */
export function assertSuccess(code: number): void {
  if (code !== 0) throw protocolError(code);
}
