import { errorFrame } from '@sluice/wires';
import { problemOf, problemType } from '../problem.js';
import type { DoorWire } from './door.js';
import { wireOfPath } from './door.js';

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** What a refusal is written as to who asks there: a problem, or behind a door an error of its wire. */
export function refusalBody(path: string, refused: Refused): { readonly type: string; readonly body: object } {
  const wire = wireOfPath(path);
  if (wire === null) return { type: problemType, body: problemOf(refused) };
  return { type: 'application/json', body: wireError(wire, refused) };
}

/** The event by which a stream of the wire ends in an error. */
export function errorEvent(wire: DoorWire, refused: Refused): Uint8Array {
  const { status, message } = refused;
  return errorFrame(wire, { status, message, body: JSON.stringify(wireError(wire, refused)) });
}

function wireError(wire: DoorWire, { status, code, message, more = {} }: Refused): object {
  if (wire === 'anthropic')
    return { type: 'error', error: { type: anthropicTypes[status] ?? 'api_error', message }, request_id: null };
  const { param = null, wire_code: named = code } = more;
  return { error: { message, type: openAiTypes[status] ?? 'server_error', param, code: named } };
}

const invalid = 'invalid_request_error';

const openAiTypes: Readonly<Record<number, string>> = {
  ...{ 400: invalid, 401: 'authentication_error', 403: 'permission_error', 404: invalid, 405: invalid, 409: invalid },
  ...{ 413: invalid, 415: invalid, 422: invalid, 429: 'rate_limit_error' },
};

const anthropicTypes: Readonly<Record<number, string>> = {
  ...{ 400: invalid, 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 405: invalid },
  ...{ 409: invalid, 413: 'request_too_large', 415: invalid, 422: invalid, 429: 'rate_limit_error' },
  ...{ 503: 'overloaded_error', 504: 'timeout_error' },
};
