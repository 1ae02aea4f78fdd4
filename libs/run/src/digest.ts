import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { callKeyOf } from './calls.js';

/**
 * What the keyed hash of a result is over: with the call, so that equal results of two calls have different hashes.
 * The run is called by its request_id, which an auditor has.
 */
export function hashedResult(record: ToolCall, index: number, json: string): string {
  return `${callKeyOf(record.requestId, record, record.calls[index] as RequestedCall, index)}\n${json}`;
}
