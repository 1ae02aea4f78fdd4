import { APICallError } from '@ai-sdk/provider';
import { isJsonObject } from '@sluice/core';

/** The HTTP status that an error stands for, undefined where it has none. */
export function statusOf(error: unknown): number | undefined {
  if (!isJsonObject(error)) return undefined;
  return [error['statusCode'], error['code']].find(
    (value) => typeof value === 'number' && value >= 100 && value <= 599,
  ) as number | undefined;
}

/** The operating system's or Node's code behind an error ('ECONNREFUSED'), '' where there is none. */
export function systemCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; isJsonObject(at) && depth < 8; at = at['cause'], depth += 1) {
    const code: unknown = at['code'];
    if (typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code)) return code;
  }
  return '';
}

/**
 * The provider's own names for the error, such as `context_length_exceeded` or `ThrottlingException`, '' where it gives
 * none. Only words of letters and underscores pass: a message may repeat the key or the prompt, a name does not.
 */
export function errorName(error: unknown): string {
  const payload = payloadOf(error);
  const names = ['type', 'code', 'status', 'param', '__type'].map((field) => payload[field]).filter(isName);
  const header = APICallError.isInstance(error)
    ? error.responseHeaders?.['x-amzn-errortype']?.split(':')[0]
    : undefined;
  return [...new Set([...names, ...(isName(header) ? [header] : [])])].join(', ');
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]{3,48}$/.test(value);
}

/** The object that carries the names: of a response's body, or of an error reported in the stream. */
function payloadOf(error: unknown): Readonly<Record<string, unknown>> {
  const whole = APICallError.isInstance(error) ? (error.data ?? parsed(error.responseBody)) : error;
  if (!isJsonObject(whole)) return {};
  return isJsonObject(whole['error']) ? whole['error'] : whole;
}

/** A body that is not JSON names nothing. */
function parsed(body: string | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
