import type { RunErrorCode } from '@sluice/core';
import { Refusal } from '../refusal.js';

/** What the end of a run without an answer is over HTTP. */
const statuses: Readonly<Record<RunErrorCode, number>> = {
  ...{ invalid_request: 400, authz_denied: 403, size_exceeded: 413, budget_exceeded: 429, span_budget_exceeded: 429 },
  ...{
    max_iterations: 422,
    answer_invalid: 422,
    deadline_exceeded: 504,
    cancelled: 409,
    model_failed: 502,
    record_quarantined: 500,
    dead_lettered: 500,
  },
};

/**
 * The refusal that says how a run ended, or why it cannot be followed to its end. The clients of the providers ask
 * again by themselves at many a status: a run may have had effects, so they are asked not to.
 */
export function refusalOfEnd(code: string, message: string): Refusal {
  const status = Object.hasOwn(statuses, code) ? statuses[code as RunErrorCode] : 500;
  return new Refusal(status, 'internal', message, { 'x-should-retry': 'false' }, { wire_code: code });
}
