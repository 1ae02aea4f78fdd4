import { Fault, runErrorOf } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentResponse, Run } from '@sluice/contracts';
import { recordAt } from '@sluice/bus';
import { agentRunIdOf, AgentRunClaims, cancelRun, loadedFor, runOfRecord } from '@sluice/run';
import type { JoinedFanOut } from '@sluice/run';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from '@sluice/host';
import type { AllReturned, Returned } from './returned.js';

type Parent = NonNullable<Run['parent']>;

/**
 * Notes that one of the agents of a turn that run side by side has ended, by the record at `place`. Gives all their
 * results once every one has, to the one record with which the turn goes on; null to any other.
 */
export async function join(
  end: Incoming<'agent.responses'>,
  parent: Parent,
  parked: Incoming<'agent.tool-calls'>,
  place: string,
  runtime: Runtime,
): Promise<AllReturned | null> {
  const { partition, offset, index, fanOut } = parent;
  if (fanOut === null) throw new Error('A call that runs alone is joined with none.');
  const claims = new AgentRunClaims(runtime);
  const fan = { run: runOfRecord(parked.record), partition, offset, ...fanOut };
  await claims.memberEnded(fan, index, place);
  if (end.record.error !== null) await stopOthers(end.record, fan, parked, claims, runtime);
  const places = await claims.allEnded(fan);
  if (places === null || !(await claims.joins(fan, place))) return null;
  const all = await Promise.all(places.map((one) => endAt(one, runtime)));
  return new Map(all.map((returned, n) => [fan.first + n, returned]));
}

/**
 * Where the first error is to stop the others, those that have not ended are cancelled: each then ends by itself, and
 * says so.
 */
async function stopOthers(
  { requestId, error }: Pick<AgentResponse, 'requestId' | 'error'>,
  fan: JoinedFanOut,
  { record }: Incoming<'agent.tool-calls'>,
  claims: AgentRunClaims,
  runtime: Runtime,
): Promise<void> {
  const { principal } = record.run;
  const { supervisor } = loadedFor(runtime.configurations.current(), record.request).configuration;
  if (supervisor?.onError !== 'stop' || principal === null) return;
  const what = error === null || runErrorOf(error.code) === undefined ? 'an error' : error.code;
  const reason = `${requestId}, which ran beside it, ended with ${what}.`;
  for (const [n, place] of (await claims.endsOf(fan)).entries()) {
    const call = record.calls[fan.first + n];
    if (place !== null || call === undefined) continue;
    await cancelRun(agentRunIdOf(record, call, fan.first + n), principal, reason, runtime);
  }
}

/** How the agent’s run ended, by its record on the log. */
async function endAt(place: string, { bus }: Pick<Runtime, 'bus'>): Promise<Returned> {
  const [, partition, offset] = place.split('/');
  const found = await recordAt(bus, topics.responses, { partition: Number(partition), offset: Number(offset) });
  const { run = null } = found?.record ?? {};
  if (found === undefined || run?.parent == null)
    throw new Fault('invalid_request', `The end of an agent’s run at ${place} is no longer on the log.`, false);
  return { end: found.record, run, startedAt: run.parent.startedAt };
}
