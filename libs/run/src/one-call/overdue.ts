import { trustedTimeOf } from '@sluice/bus';
import { normaliseState } from '@sluice/core';
import type { Evaluator, Principal, RunState } from '@sluice/core';
import { requestIds } from '@sluice/contracts';
import type { RequestTopic, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { acceptedRequest, beginning } from '../filter.js';
import { toolset } from '../toolset.js';

/**
 * Since when the run of a call has its time, milliseconds since the epoch: from when the log took its request, so that
 * the filter knows its deadline without the executor. It is not after `now`, where another clock wrote the record.
 */
export function startOfCall(message: Pick<Incoming<RequestTopic>, 'timestamp' | 'readAt'>, now: number): number {
  return Math.min(now, trustedTimeOf(message));
}

/** A call that its request makes itself, as the filter ends it where no executor does. */
interface OverdueCall {
  readonly run: RunState;
  /** Grants nothing: with the filter’s signature it says whose run it is, and until when that may last. */
  readonly turn: Toolset;
}

/**
 * What the filter says of a call whose executor is away: a first turn without tools, in this attempt of its run. It
 * follows from the request, who asked, when its time began and the configuration alone.
 */
export function overdueCall(
  message: Incoming<RequestTopic>,
  asker: Principal,
  { attempt, startedAt }: { readonly attempt: string | null; readonly startedAt: number },
  { configuration }: Pick<Evaluator, 'configuration'>,
): OverdueCall {
  const ids = requestIds(message, message.record);
  const begun = beginning(message.record, asker, { configuration }, startedAt);
  const request = acceptedRequest(begun.request, ids);
  const run = { ...begun.run, iteration: 1, redrive: attempt };
  const decision = {
    state: normaliseState(request.state),
    ...{ groups: [], offered: [], hidden: [], unknownGroups: [], configVersion: configuration.version },
  };
  return { run, turn: toolset(ids, request, run, decision, null, run.deadline) };
}
