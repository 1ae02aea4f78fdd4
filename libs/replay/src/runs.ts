import { placeOf, topics } from '@sluice/contracts';
import type { DeadLetter } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import { runOf } from '@sluice/decisions';

/** The records of one run that decide or are decided. */
export interface RunRecords {
  readonly requestId: string;
  readonly requests: Incoming<'agent.requests'>[];
  readonly toolsets: Incoming<'agent.toolsets'>[];
  readonly calls: Incoming<'agent.tool-calls'>[];
  readonly steps: Incoming<'agent.steps'>[];
  readonly responses: Incoming<'agent.responses'>[];
  readonly approvals: Incoming<'agent.approvals'>[];
}

/** Dead letters by the place of the record that they hold. */
export type DeadLetters = ReadonlyMap<string, DeadLetter>;

const read = [
  topics.requests,
  topics.toolsets,
  topics.toolCalls,
  topics.steps,
  topics.responses,
  topics.approvals,
  topics.deadLetters,
] as const;

/**
 * How much of the log’s time a run is held after its end, milliseconds: over topics and partitions the order is that of the brokers’
 * clocks. A dead letter is held as long, since the end that follows from it goes out beside it.
 */
const lingerMs = 5_000;

/** Gathers runs from the log; memory is bounded by the runs that are under way at a time. */
export async function* readRuns(
  reader: LogReader,
  options: Pick<ReadOptions, 'from' | 'signal' | 'onUndecodable'>,
): AsyncGenerator<{ readonly run: RunRecords; readonly dead: DeadLetters }, void, undefined> {
  const open = new Map<string, RunRecords>();
  const dead = new Map<string, DeadLetter>();
  const ended: { readonly run: RunRecords; readonly at: number }[] = [];
  for await (const message of reader.read(read, options)) {
    const { timestamp } = message;
    while (ended[0] !== undefined && timestamp - ended[0].at > lingerMs) {
      const { run } = ended.shift() as { run: RunRecords };
      if (open.delete(run.requestId)) yield { run, dead };
    }
    if (message.topic === 'agent.dead-letters') {
      for (const [place, letter] of dead) {
        if (timestamp - letter.failedAt <= 2 * lingerMs) break;
        dead.delete(place);
      }
      dead.set(placeOf(message.record), message.record);
      continue;
    }
    const requestId = runOf(message);
    if (requestId === null) continue;
    let run = open.get(requestId);
    if (run === undefined) open.set(requestId, (run = newRun(requestId)));
    put(message, run);
    if (message.topic === 'agent.responses') ended.push({ run, at: timestamp });
  }
  for (const run of open.values()) yield { run, dead };
}

function newRun(requestId: string): RunRecords {
  return { requestId, requests: [], toolsets: [], calls: [], steps: [], responses: [], approvals: [] };
}

function put(message: Incoming, run: RunRecords): void {
  switch (message.topic) {
    case 'agent.requests':
      return void run.requests.push(message);
    case 'agent.toolsets':
      return void run.toolsets.push(message);
    case 'agent.tool-calls':
      return void run.calls.push(message);
    case 'agent.steps':
      return void run.steps.push(message);
    case 'agent.responses':
      return void run.responses.push(message);
    case 'agent.approvals':
      return void run.approvals.push(message);
    case 'agent.progress':
    case 'agent.audit':
    case 'agent.dead-letters':
    case 'agent.config':
      return;
  }
}
