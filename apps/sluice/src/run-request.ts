import { agentBegunBy } from '@sluice/core';
import { make, storyTopics, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { Bus, Incoming, LogReader } from '@sluice/bus';
import { RunsWithin } from '@sluice/run';
import type { AgentCall } from '@sluice/run';
import { ownHeaders } from '@sluice/host';
import type { Environment } from '@sluice/host';

/** Publishes a request, with the credential of the environment’s user; returns when it is durably on the log. */
export async function publishRequest(
  bus: Bus,
  request: AgentRequest & { readonly sessionId: string },
  asker?: Environment,
): Promise<void> {
  const written = { topic: topics.requests, record: request } as const;
  const headers = asker === undefined ? {} : await ownHeaders(written, asker);
  await bus.publish([{ ...written, key: request.sessionId, headers }]);
}

/** Where the records of a run are while it goes on. */
const watchedTopics = [...storyTopics, topics.progress] as const;

/** Takes a record, and the agents’ runs that it is of: the outer one first, none for one of the run itself. */
type OnRecord = (message: Incoming, within: readonly string[]) => void;

/**
 * Follows a run from the given time on until its end; each record of it and of the agents that it calls is reported
 * once, those from before as well.
 */
export async function followRun(
  bus: LogReader,
  requestId: string,
  fromTime: number,
  onRecord: OnRecord,
  signal?: AbortSignal,
): Promise<AgentResponse | null> {
  // A record of another run that cannot be read is no reason to stop.
  const onUndecodable = (): void => undefined;
  const options = {
    from: { time: fromTime },
    follow: true,
    onUndecodable,
    ...(signal === undefined ? {} : { signal }),
  };
  const runs = new RunsWithin(requestId);
  for await (const message of bus.read(watchedTopics, options)) {
    const within = idsOf(runs.of(requestIdOf(message), message));
    if (within === null) continue;
    onRecord(message, within);
    if (message.topic === 'agent.responses' && within.length === 0) return message.record;
  }
  return null;
}

/**
 * How the run of an earlier request ended, the last time if it was re-driven, with its records reported; null if it
 * has not.
 */
export async function pastRun(bus: LogReader, requestId: string, onRecord: OnRecord): Promise<AgentResponse | null> {
  const records: (readonly [Incoming, readonly string[]])[] = [];
  const runs = new RunsWithin(requestId);
  let end: AgentResponse | null = null;
  for await (const message of bus.read(storyTopics, { from: 'start', onUndecodable: () => undefined })) {
    const within = idsOf(runs.of(requestIdOf(message), message));
    if (within === null) continue;
    records.push([message, within]);
    if (message.topic === 'agent.responses' && within.length === 0) end = message.record;
  }
  if (end !== null) for (const [message, within] of records) onRecord(message, within);
  return end;
}

/** A request with nothing but a question, to be filled in. */
export function newRequest(question: string, ids: { readonly requestId: string; readonly sessionId: string }) {
  return { ...make.agentRequest({ question }), ...ids };
}

/** The run that the record is reported under: the beginning of a sub-agent’s run is shown where it was called. */
function requestIdOf(message: Incoming<(typeof watchedTopics)[number]>): string | null {
  const begunBy = message.topic === 'agent.steps' ? agentBegunBy(message.record) : null;
  if (begunBy !== null) return begunBy.requestId;
  if (message.topic !== 'agent.approvals') return message.record.requestId;
  const { requested, decided, outcome } = message.record;
  return (requested ?? decided ?? outcome)?.requestId ?? null;
}

function idsOf(within: readonly AgentCall[] | null): readonly string[] | null {
  return within && within.map(({ runId }) => runId);
}
