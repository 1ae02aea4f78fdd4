import { isRequest, positionOf, redriveHeader, runTopics, topics } from '@sluice/contracts';
import type { Codec, DeadLetter, Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { requestIdOf, tenantOf } from '@sluice/run';
import { isAgentBeginning } from './agent-runs.js';
import { DeadEnds } from './dead-ends.js';
import type { RunRecords, Held, Gathered, DeadLetters } from './run-records.js';
import { isSelected, readFrom } from './select.js';
import type { DecisionSelection } from './select.js';
import { UnderWay } from './under-way.js';

interface Gathering extends Pick<ReadOptions, 'onUndecodable'> {
  readonly selection: DecisionSelection;
  readonly signal: AbortSignal;
}

const read = [...runTopics, topics.deadLetters] as const;

/**
 * How much of the log’s time a run is held after its end, milliseconds: over topics and partitions the order is that
 * of the brokers’ clocks. A dead letter is held as long, since the end that follows from it goes out beside it.
 */
const lingerMs = 5_000;

/**
 * Gathers runs with selected decisions from the log; memory is bounded by the runs that are under way at a time, and
 * by what is held of dead ends.
 */
export async function* readRuns(
  reader: LogReader,
  { selection, signal, ...options }: Gathering,
  deadEnds = new DeadEnds(),
): AsyncGenerator<{ readonly run: Gathered; readonly dead: DeadLetters }, void, undefined> {
  const open = new UnderWay();
  const dead = new Map<string, DeadLetter>();
  const ended: { readonly run: Gathered; readonly at: number }[] = [];
  for await (const message of reader.read(read, { ...options, from: readFrom(selection), signal })) {
    const { timestamp } = message;
    while (ended[0] !== undefined && timestamp - ended[0].at > lingerMs) {
      const { run, at } = ended.shift() as (typeof ended)[number];
      // It goes on or has ended once more since, or is given away.
      if (run.endedAt !== at || !open.has(run)) continue;
      deadEnds.release(run);
      if (deadEnds.holds(run, dead)) continue;
      open.drop(run);
      if (run.selected > 0) yield { run, dead: deadEnds.lettersOf(run, dead) };
    }
    for (const run of deadEnds.beyond()) {
      open.drop(run);
      if (run.selected > 0) yield { run, dead: run.letters };
    }
    if (message.topic === 'agent.dead-letters') {
      for (const [place, letter] of dead) {
        if (timestamp - letter.failedAt <= 2 * lingerMs) break;
        dead.delete(place);
      }
      dead.set(positionOf(message.record), message.record);
      continue;
    }
    const runs = open.of(message);
    const keeping = held(message);
    for (const run of runs) {
      if (message.headers[redriveHeader] !== undefined) {
        deadEnds.resumes(run, dead);
        run.endedAt = null;
      }
      run.messages.push(keeping);
      if (message.topic === 'agent.approvals' && message.record.requested !== null)
        run.asked.add(message.record.requested.approvalId);
    }
    // Of several the record is decided in one at most.
    const [run] = runs;
    if (run === undefined) continue;
    const caller = callerOf(message);
    const calling = caller === null ? undefined : open.find(caller, tenantOf(message));
    calling?.messages.push(keeping);
    // The beginning of an agent’s run was decided in the run that calls it.
    const decidedIn = isAgentBeginning(message) ? calling : run;
    if (decidedIn !== undefined && isDecision(message) && isSelected(message, null, selection, null))
      decidedIn.selected++;
    if (message.topic !== 'agent.responses') continue;
    run.endedAt = timestamp;
    run.isError = message.record.error !== null;
    ended.push({ run, at: timestamp });
  }
  // What was stopped is not the log’s end, and its runs are not whole.
  if (signal.aborted) return;
  for (const run of open.all()) if (run.selected > 0) yield { run, dead: deadEnds.lettersOf(run, dead) };
}

function held({
  topic,
  partition,
  offset,
  key,
  headers,
  timestamp,
  record,
  avro = null,
  writer = null,
}: Incoming): Held {
  const place = { topic, partition, offset, key, headers, timestamp };
  return avro === null ? { ...place, record, avro, writer } : { ...place, record: null, avro };
}

/** The run that called the agent whose run begins or ends with the record; null for any other record. */
function callerOf(message: Incoming): string | null {
  const { topic } = message;
  if (topic !== 'agent.responses' && !(topic === 'agent.steps' && isAgentBeginning(message))) return null;
  return (message as Incoming<'agent.responses' | 'agent.steps'>).record.run?.parent?.requestId ?? null;
}

/** Whether the record holds a decision. */
function isDecision(message: Incoming): boolean {
  if (message.topic === 'agent.approvals') return message.record.decided === null;
  return !isRequest(message);
}

/** The records of a run, by topic, each in the order of the log. */
export function recordsOf(requestId: string, messages: readonly Held[], codec: Codec): RunRecords {
  const whole = messages.map(({ record, ...held }) => {
    return { ...held, record: held.avro === null ? record : codec.fromAvro(held.topic, held.avro) };
  });
  // What is of another run is of an agent’s that this one called.
  const [own, others] = [true, false].map((mine) =>
    whole.filter((one) => (requestIdOf(one as Incoming) === requestId) === mine),
  );
  const of = <T extends Topic>(topic: T, among = own): Incoming<T>[] =>
    among?.filter((message) => message.topic === topic) as unknown as Incoming<T>[];
  return {
    requestId,
    requests: [...of('agent.requests'), ...of('agent.calls')],
    toolsets: of('agent.toolsets'),
    calls: of('agent.tool-calls'),
    steps: of('agent.steps'),
    responses: of('agent.responses'),
    approvals: of('agent.approvals'),
    begun: of('agent.steps', others),
    returns: of('agent.responses', others),
  };
}
