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

/** What the provider says of the error in its own words, which may repeat a key or the prompt; '' where it says nothing. */
export function sentenceOf(error: unknown): string {
  const whole = wholeOf(error);
  const payload = payloadOf(error);
  const said = [payload['message'], whole['detail'], whole['error']].find(
    (value) => typeof value === 'string' && value.trim() !== '',
  );
  return typeof said === 'string' ? said : '';
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_]{3,48}$/.test(value);
}

/** The object that carries the names: of a response's body, or of an error reported in the stream. */
function payloadOf(error: unknown): Readonly<Record<string, unknown>> {
  const whole = wholeOf(error);
  return isJsonObject(whole['error']) ? whole['error'] : whole;
}

function wholeOf(error: unknown): Readonly<Record<string, unknown>> {
  const whole: unknown = APICallError.isInstance(error) ? (parsed(error.responseBody) ?? error.data) : error;
  return isJsonObject(whole) ? whole : {};
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
