import { parseExactJson } from '@sluice/core';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';

/**
 * The message that a line holds; throws if it holds none. Nearly all are results, which show it at once; the SDK's schema tries one kind of
 * message after another until one fits, and that costs more than all the rest of reading a line. It is left what is anything else.
 */
export function messageIn(line: string): JSONRPCMessage {
  const value: unknown = parseExactJson(line);
  return isResult(value) ? value : JSONRPCMessageSchema.parse(value);
}

/** A result without anything but what it must have; what is in it is checked by who asked for it. */
function isResult(value: unknown): value is JSONRPCResultResponse {
  if (typeof value !== 'object' || value === null) return false;
  const { jsonrpc, id, result } = value as Readonly<Record<string, unknown>>;
  return (
    jsonrpc === '2.0' &&
    (Number.isSafeInteger(id) || typeof id === 'string') &&
    typeof result === 'object' &&
    result !== null &&
    !Array.isArray(result) &&
    !('_meta' in result) &&
    Object.keys(value).length === 3
  );
}
