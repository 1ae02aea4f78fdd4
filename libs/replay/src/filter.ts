import type { Principal } from '@sluice/core';
import { requestIds } from '@sluice/contracts';
import type { AgentResponse, Toolset } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { beginning, decideIteration, denial, taken } from '@sluice/decisions';
import type { Iteration } from '@sluice/decisions';
import type { RecordedConfigurations } from './configurations.js';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './runs.js';

/** What a decision of the filter says of how it came about. */
interface Decided {
  readonly configVersion: string;
  readonly principal: Principal;
  readonly startedAt: number;
  readonly now: number;
}

/** The tools of an iteration, from each record that it can have followed: a request, or the turn before. */
export function deriveToolset(
  { record }: Incoming<'agent.toolsets'>,
  run: RunRecords,
  configurations: RecordedConfigurations,
): readonly (Toolset | AgentResponse)[] {
  const { iteration, configVersion, decidedAt: now, grant } = record;
  const { principal, startedAt } = record.run;
  if (principal === null) throw new NotReplayable('It does not say who asked.');
  const decided = { configVersion, principal, startedAt, now };
  const iterations =
    iteration === 1
      ? fromRequests(run, decided, configurations)
      : fromSteps(run, iteration - 1, { configVersion, now }, configurations);
  return iterations.map((derived) => (derived.kind === 'end' ? derived.response : { ...derived.record, grant }));
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
  const iterations =
    iteration === 0
      ? fromRequests(run, { configVersion, principal, startedAt, now }, configurations)
      : fromSteps(run, iteration, { configVersion, now }, configurations);
  return iterations.map((derived) => (derived.kind === 'end' ? derived.response : derived.record));
}

function fromRequests(
  { requests }: RunRecords,
  { configVersion, principal, startedAt, now }: Decided,
  configurations: RecordedConfigurations,
): readonly Iteration[] {
  return requests.map((message): Iteration => {
    const evaluator = configurations.get(configVersion);
    const ids = requestIds(message, message.record);
    const request = taken(message.record, ids);
    const { run, permission } = beginning(message.record, principal, evaluator, startedAt);
    if (permission.ok) return decideIteration(ids, request, run, evaluator, now);
    return { kind: 'end', response: denial(ids, permission.message, { request, run }, configVersion, now) };
  });
}

function fromSteps(
  { steps }: RunRecords,
  iteration: number,
  { configVersion, now }: Pick<Decided, 'configVersion' | 'now'>,
  configurations: RecordedConfigurations,
): readonly Iteration[] {
  return steps
    .filter(({ record }) => record.iteration === iteration)
    .map(({ record }) => {
      const { requestId, sessionId, next, run } = record;
      return decideIteration({ requestId, sessionId }, next, run, configurations.get(configVersion), now);
    });
}
