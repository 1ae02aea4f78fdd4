import { evaluatorFor } from '@sluice/core';
import type { Evaluator, Principal, RunState } from '@sluice/core';
import { requestIds } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, RequestTopic, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import {
  acceptedRequest,
  beginning,
  decideIteration,
  denial,
  namingTools,
  recordedConditions,
  withConditions,
} from '@sluice/run';
import type { Cancelled, Iteration, OfferedBefore, RunIds } from '@sluice/run';
import { goingOn, isRedriven } from './attempts.js';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './run-records.js';

/** What a decision of the filter says of how it came about. */
interface Decided {
  readonly configVersion: string;
  readonly principal: Principal;
  readonly startedAt: number;
  readonly now: number;
  /** The run as the decision left it. */
  readonly after: RunState;
  /** That its caller cancelled it, as its end says; absent where it goes on. */
  readonly cancelled?: Cancelled | null;
  /** Whether the record names its tools; former versions wrote them out. */
  readonly isNaming: boolean;
}

/** The tools of an iteration, from each record that it can have followed: a request, or the turn before. */
export function deriveToolset(
  { record }: Incoming<'agent.toolsets'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly (Toolset | AgentResponse)[] {
  const { iteration, configVersion, decidedAt: now, grant, recordSignature } = record;
  const { principal, startedAt } = record.run;
  if (principal === null) throw new NotReplayable('It does not say who asked.');
  const isNaming = record.list !== null;
  const decided = { configVersion, principal, startedAt, now, after: record.run, isNaming };
  const iterations =
    iteration === 1 && record.run.parent === null
      ? fromRequests(run, decided, configurations)
      : fromSteps(run, iteration - 1, { configVersion, now, after: record.run, isNaming }, configurations);
  return iterations.map((derived) =>
    derived.kind === 'end' ? derived.response : { ...derived.record, grant, recordSignature },
  );
}

/** The ends that the filter decides: refusals, and runs that have used up what they may. */
export function deriveFilterEnd(
  { record }: Incoming<'agent.responses'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly (AgentResponse | Toolset)[] {
  const { configVersion, endedAt: now } = record;
  const denied = record.error?.code === 'authz_denied';
  if (record.run === null) {
    if (denied) throw new NotReplayable('Its credential was refused, and credentials are not kept.');
    return [];
  }
  const { principal, startedAt, iteration } = record.run;
  if (principal === null) throw new NotReplayable('It does not say who asked.');
  // The ledger knew whether the run was cancelled, and the record says.
  const cancelled = record.error?.code === 'cancelled' ? record.error : null;
  const after = { configVersion, now, after: record.run, cancelled, isNaming: false };
  const asked = iteration === 0 && record.run.parent === null;
  const begun = asked ? fromRequests(run, { ...after, principal, startedAt }, configurations) : [];
  // A first turn that came back to be decided again ends before its first iteration as well.
  const iterations = [...begun, ...fromSteps(run, iteration, after, configurations)];
  return iterations.map((derived) => (derived.kind === 'end' ? derived.response : derived.record));
}

function fromRequests(
  { requests }: RunRecords,
  { now, cancelled, isNaming, ...decided }: Decided,
  configurations: RecordedConfigurations,
): readonly Iteration[] {
  return requests.map((message): Iteration => {
    const begun = begunBy(message, decided, configurations);
    const { ids, request, run, evaluator, permission } = begun;
    if (permission.ok) {
      const iteration = decideIteration(ids, request, begun.conditioned, evaluator, now, cancelled);
      return isNaming ? naming(iteration, evaluator, null) : iteration;
    }
    return { kind: 'end', response: denial(ids, permission.message, { request, run }, decided.configVersion, now) };
  });
}

/** A run before its first iteration. */
interface Begun {
  readonly ids: RunIds;
  readonly request: AgentRequest;
  readonly run: RunState;
  /** The run with what its first decision was judged by. */
  readonly conditioned: RunState;
  readonly evaluator: Evaluator;
  readonly permission: ReturnType<typeof beginning>['permission'];
}

/** How a run began with a request, as far as the run that is recorded says what was read elsewhere then. */
export function begunBy(
  message: Incoming<RequestTopic>,
  { configVersion, principal, startedAt, after }: Omit<Decided, 'now' | 'cancelled' | 'isNaming'>,
  configurations: RecordedConfigurations,
): Begun {
  const evaluator = evaluatorFor(configurations.get(configVersion), message.record);
  const ids = requestIds(message, message.record);
  const asks = beginning(message.record, principal, evaluator, startedAt);
  // What the session's earlier runs were, the filter read; the record has it.
  const run = { ...asks.run, redrive: after.redrive, memory: after.memory };
  const { measured, origin } = recordedConditions(after);
  const conditioned = withConditions(run, evaluator, measured, origin);
  const request = acceptedRequest(asks.request, ids);
  return { ids, request, run, conditioned, evaluator, permission: asks.permission };
}

function fromSteps(
  { steps }: RunRecords,
  iteration: number,
  { configVersion, now, after, cancelled, isNaming }: Omit<Decided, 'principal' | 'startedAt'>,
  configurations: RecordedConfigurations,
): readonly Iteration[] {
  // A turn that was granted and not taken can come back to be decided again, in its own iteration.
  const before = steps.filter(({ record }) => record.iteration === iteration);
  const again = steps.filter((one) => one.record.iteration === iteration + 1 && isRedriven(one, after));
  return [...before, ...again].flatMap((message) => {
    const { requestId, sessionId, next, run } = message.record;
    const evaluator = configurations.get(configVersion);
    const own = goingOn({ ...run, iteration }, message, next, after, () => evaluator.configuration.limits);
    const going = withConditions(own, evaluator, recordedConditions(after).measured);
    const decided = decideIteration({ requestId, sessionId }, next, going, evaluator, now, cancelled);
    if (!isNaming) return [decided];
    // Behind a call that a request makes itself the list is whole: the turn may have been decided on without a Toolset.
    const whole = next.call === null ? [] : [naming(decided, evaluator, null)];
    return [...whole, naming(decided, evaluator, message.record)];
  });
}

function naming(iteration: Iteration, evaluator: Evaluator, before: OfferedBefore | null): Iteration {
  if (iteration.kind === 'end') return iteration;
  return { ...iteration, record: namingTools(iteration.record, iteration.decision, evaluator, before) };
}
