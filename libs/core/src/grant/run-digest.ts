import type { Digest } from '../json.js';
import type { Step } from '../run/step.js';
import { canonical } from './canonical.js';
import { wellFormed } from '../well-formed.js';
import { isRequest, isRun, orderedRequest, orderedRun, orderedStep } from './run-forms.js';

/** What the agent adds to on a run’s way from the filter to the executor; everything else is covered by the grant. */
const ownedByAgent = new Set(['inputTokens', 'outputTokens']);
/** The history is written for itself. */
const apart = new Set(['history']);

/**
 * A digest over a request and its run as they go on: a change of any part breaks the signature that names it. Null counts
 * as absent, so that a field added later changes no digest where it is not set, and versions can run side by side. Texts count as the wire
 * carries them: well-formed.
 */
export function digestOfRun(request: { readonly history: readonly Step[] }, run: object, digest: Digest): string {
  return digest(historyText(request.history) + requestText(request) + runText(run));
}

const historyTexts = new WeakMap<readonly Step[], string>();

/** A history is most of a record, and what the executor signed of it is what the filter grants next: its text is made once. */
function historyText(history: readonly Step[]): string {
  let text = historyTexts.get(history);
  if (text === undefined) historyTexts.set(history, (text = JSON.stringify(wellFormed(history).map(orderedStep))));
  return text;
}

function requestText(request: object): string {
  return isRequest(request)
    ? JSON.stringify(wellFormed(orderedRequest(request)))
    : canonical(wellFormed(request), apart);
}

function runText(run: object): string {
  const whole = wellFormed(run);
  return isRun(whole) ? JSON.stringify(orderedRun(whole)) : canonical(whole, ownedByAgent);
}
