import {
  channelHeader,
  hasEnded,
  ownPrincipal,
  requestOwner,
  scheduleCredential,
  scheduledRequestId,
  scheduleSession,
} from '@sluice/run';
import type { QueuedStart, ScheduledTopic, ScheduleState, StartedRun } from '@sluice/run';
import { claimMemoryMs } from '@sluice/core';
import type { ScheduleSettings } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { AgentRequest, RecordOf } from '@sluice/contracts';
import { tenantHeader } from '@sluice/bus';
import type { Outgoing } from '@sluice/bus';
import type { Runtime } from '@sluice/host';

/** A request that was not taken within it was denied before anybody knew whose it is, milliseconds. */
const takenWithinMs = 60 * 60_000;

/** What became of a start at the head of a queue. */
export type Started = StartedRun | 'waits' | 'overlap';

/**
 * Publishes the request of a start, unless the run before it stands in its way. The request_id follows from the due
 * time, so a request that is published again, after a process was killed, is dropped by the filter.
 */
export async function startRun(
  schedule: ScheduleSettings,
  { last }: Pick<ScheduleState, 'last'>,
  start: QueuedStart,
  { runtime, claimMs }: { readonly runtime: Runtime; readonly claimMs: number },
): Promise<Started> {
  const { bus, clock, environment, ledger, log } = runtime;
  const { name, overlap } = schedule;
  const requestId = scheduledRequestId(name, start);
  const started = { ...start, requestId, startedAt: clock.now() };
  const run = { requestId, tenant: tenantOf(schedule, runtime) };
  if ((await requestOwner(run, runtime)) !== null) return started;
  const before = last !== null && (await isRunning(last, run.tenant, runtime)) ? last : null;
  if (before !== null && overlap === 'skip') return 'overlap';
  if (before !== null && overlap === 'queue') return 'waits';
  // One filter publishes it; should that be killed, another one does once the claim is over.
  const claim = { key: `schedule/${requestId}`, owner: environment.instance, now: clock.now(), ttlMs: claimMs };
  if ((await ledger.claim(claim)).owner !== environment.instance) return 'waits';
  const messages = [
    ...(before === null ? [] : [await cancellation(schedule, before, runtime)]),
    await written(schedule, { topic: topics.requests, record: requestFor(schedule, requestId) }, runtime),
  ];
  await bus.publish(messages);
  const due = new Date(start.due).toISOString();
  log.info(
    { schedule: name, request_id: requestId, due, ...(start.by === undefined ? {} : { by: start.by }) },
    'started a run by its schedule',
  );
  return started;
}

/** Whether the run has not ended, as far as the ledger remembers: one that never began is waited for no longer. */
async function isRunning({ requestId, startedAt }: StartedRun, tenant: string, runtime: Runtime): Promise<boolean> {
  // Of one that a wrong clock started far ahead, the ledger may know nothing either.
  const sinceMs = Math.abs(runtime.clock.now() - startedAt);
  if (sinceMs > claimMemoryMs) return false;
  if (sinceMs > takenWithinMs && (await requestOwner({ requestId, tenant }, runtime)) === null) return false;
  return !(await hasEnded({ requestId, tenant, attempt: null }, runtime));
}

function tenantOf(schedule: ScheduleSettings, { configurations }: Pick<Runtime, 'configurations'>): string {
  return ownPrincipal(schedule, configurations.current().configuration).tenantId;
}

function requestFor({ name, question, groups, ...of }: ScheduleSettings, requestId: string): AgentRequest {
  const { connections = null, agent = null, state = null } = of;
  const asked = { question, group: groups ?? null, connections, agent, state };
  return make.agentRequest({ ...asked, requestId, sessionId: scheduleSession(name) });
}

function cancellation(schedule: ScheduleSettings, { requestId }: StartedRun, runtime: Runtime): Promise<Outgoing> {
  const reason = 'The next run of its schedule is due.';
  const asked = { requestId, sessionId: scheduleSession(schedule.name), reason, mustExist: false };
  const record = make.cancellation({ ...asked, askedAt: runtime.clock.now() });
  return written(schedule, { topic: topics.cancellations, record }, runtime);
}

/** The record, signed by the filter as one of the schedule. */
async function written<T extends ScheduledTopic>(
  schedule: ScheduleSettings,
  about: { readonly topic: T; readonly record: RecordOf<T> },
  runtime: Runtime,
): Promise<Outgoing> {
  const { clock, configurations, credentials, signatures } = runtime;
  const { configuration } = configurations.current();
  const principal = ownPrincipal(schedule, configuration);
  const credential = await scheduleCredential(schedule.name, about, { signatures, now: clock.now() });
  const own = await credentials.headersFor(about, credential, principal);
  const headers = { ...own, [channelHeader]: 'schedule', [tenantHeader]: principal.tenantId };
  return { ...about, key: scheduleSession(schedule.name), headers } as Outgoing;
}
