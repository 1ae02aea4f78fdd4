import { decodeFinished } from '../../../libs/bus/src/kafka/commit/finished-set.ts';
import { at, isCall, number, readers, recordsOf, text } from './observed.ts';
import type { Asked, Committed, Found, Spoiled } from './observed.ts';

/**
 * Offsets and metadata as they were before the log was read, what was found on it, and both as they were afterwards.
 */
export interface Standing {
  readonly before: readonly Committed[];
  readonly found: readonly Found[];
  readonly after: readonly Committed[];
  readonly asked: readonly Asked[];
  readonly spoiled: readonly Spoiled[];
}

/**
 * What is committed agrees with what has outputs: a record that was finished before the log was read has its output
 * there, and one that has its output is finished afterwards. Between the two the work may go on, so this can be asked
 * at any time.
 */
export function agreement({ before, found, after, asked, spoiled }: Standing): readonly string[] {
  const outputs = outputsIn(found);
  const [finishedBefore, finishedAfter] = [finishedIn(before), finishedIn(after)];
  // Of a request that came twice one is dropped, which leaves nothing; of a copy that was put aside another record
  // tells.
  const repeated = new Set(asked.filter((one) => one.repeated).map(({ runId }) => runId));
  const aside = new Set(spoiled.map(at));
  const said: string[] = [];
  for (const { group, topic } of readers) {
    for (const one of recordsOf(found, topic)) {
      if (aside.has(at(one))) continue;
      if (isRequest(topic) && repeated.has(text(one.record, 'request_id'))) continue;
      // The filter only looks at it.
      if (topic === 'agent.steps' && isCall(one)) continue;
      const hasOutput = outputs.has(inputKey(topic, one.record)) || outputs.has(at(one));
      if (finishedBefore(group, one) && !hasOutput)
        said.push(`${group} has committed ${at(one)}, and nothing that follows from it is on the log.`);
      if (hasOutput && !finishedAfter(group, one))
        said.push(`What came of ${at(one)} is on the log, and ${group} has not committed it.`);
    }
  }
  return said;
}

/** Which turn a record is the input of: its run, the hop, and the iteration. */
function inputKey(topic: string, record: Readonly<Record<string, unknown>>): string {
  return `${text(record, 'request_id')}/${topic}/${isRequest(topic) ? 0 : number(record, 'iteration')}`;
}

function isRequest(topic: string): boolean {
  return topic === 'agent.requests' || topic === 'agent.calls';
}

/** The inputs whose outputs are on the log. */
function outputsIn(found: readonly Found[]): ReadonlySet<string> {
  const inputs = new Set<string>();
  const add = (record: Readonly<Record<string, unknown>>, topic: string, iteration: number): void => {
    inputs.add(`${text(record, 'request_id')}/${topic}/${iteration}`);
  };
  for (const { record } of recordsOf(found, 'agent.toolsets')) {
    const iteration = number(record, 'iteration');
    add(record, iteration === 1 ? 'agent.requests' : 'agent.steps', iteration - 1);
  }
  // A call without a model that the filter passed on.
  for (const { record } of recordsOf(found, 'agent.calls')) add(record, 'agent.requests', 0);
  for (const { record } of recordsOf(found, 'agent.tool-calls'))
    add(record, 'agent.toolsets', number(record, 'iteration'));
  for (const one of recordsOf(found, 'agent.steps'))
    if (isCall(one)) add(one.record, 'agent.calls', 0);
    else add(one.record, 'agent.tool-calls', number(one.record, 'iteration'));
  for (const { record } of recordsOf(found, 'agent.responses'))
    add(record, 'agent.toolsets', number(record, 'iterations'));
  for (const { record } of recordsOf(found, 'agent.dead-letters'))
    inputs.add(
      at({ topic: text(record, 'topic'), partition: number(record, 'partition'), offset: number(record, 'offset') }),
    );
  return inputs;
}

function finishedIn(committed: readonly Committed[]): (group: string, one: Found) => boolean {
  const decoded = committed.map((one) => ({ ...one, beyond: decodeFinished(one.offset, one.metadata) }));
  return (group, { topic, partition, offset }) => {
    const found = decoded.find((one) => one.group === group && one.topic === topic && one.partition === partition);
    if (found === undefined) return false;
    return offset < found.offset || found.beyond.some(({ first, past }) => first <= offset && offset < past);
  };
}
