import { invalid } from '../lists/list-query.js';
import { locationParameters } from '../run-location.js';
import { tenantParameter } from '../run-readers.js';

/** The parameters of `GET /v1/runs/{request_id}`, as its page and its description have them. */
export const readParameters = { ...locationParameters, ...tenantParameter } as const;

/** Those of `GET /v1/runs/{request_id}/records`. */
export const recordParameters = {
  session_id: locationParameters.session_id,
  since: locationParameters.since,
  ...tenantParameter,
} as const;

/** Those of `GET /v1/runs/{request_id}/verdicts`. */
export const verdictParameters = {
  ...readParameters,
  iteration: 'This iteration alone, from 1, with all of its tools; every iteration unless given.',
} as const;

/** Null for all. */
export function iterationOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw invalid(`iteration must be a whole number from 1 to ${mostIterations}.`);
  return Number(text);
}

export const mostIterations = 999_999;
