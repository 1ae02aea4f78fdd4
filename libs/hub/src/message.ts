import { isJsonObject, parseExactJson } from '@sluice/core';
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JsonValue } from '@sluice/core';
import type { JSONRPCErrorResponse, JSONRPCMessage, JSONRPCResultResponse } from '@modelcontextprotocol/client';

/**
 * The message that a line holds; throws if it holds none. Nearly all are results, which show it at once; the SDK's
 * schema tries one kind of message after another until one fits, and that costs more than all the rest of reading a
 * line. It is left what is anything else.
 */
export function messageIn(line: string): JSONRPCMessage {
  const value = withoutNullMeta(parseExactJson(line));
  return isResult(value) ? value : parseJSONRPCMessage(value);
}

/** An answer as the protocol has it: some serialisers write a member that is left out as null. */
export function withoutNullMeta(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || !isJsonObject(message['result']) || message['result']['_meta'] !== null) return message;
  const { _meta, ...result } = message['result'];
  return { ...message, result };
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

/** The code of an answer that could not be read: outside what JSON-RPC and MCP use. */
export const malformedCode = -31_414;

/**
 * For a line that is an answer by its id and its version and otherwise no message, an error in its place: the call
 * that waits for it waits no longer.
 */
export function malformedAnswer(line: string): JSONRPCErrorResponse | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isJsonObject(value)) return null;
  const { jsonrpc, id, method } = value;
  if (jsonrpc !== '2.0' || method !== undefined || !(Number.isSafeInteger(id) || typeof id === 'string')) return null;
  const error = { code: malformedCode, message: 'The answer is no JSON-RPC message.' };
  return { jsonrpc: '2.0', id: id as string | number, error };
}
