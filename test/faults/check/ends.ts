import { recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/** Every run that was asked for has exactly one end, an answer; nobody else's run has one but those that were spoiled. */
export function ends({ asked, found, spoiled }: Observed): readonly string[] {
  const wanted = new Map(asked.map(({ runId, sessionId }) => [runId, sessionId]));
  const counts = new Map([...wanted.keys()].map((runId) => [runId, 0]));
  const said: string[] = [];
  for (const { record, key } of recordsOf(found, 'agent.responses')) {
    const runId = text(record, 'request_id');
    const session = wanted.get(runId);
    if (session === undefined) {
      if (
        !spoiled.some(
          ({ topic, partition, offset }) => runId === `${topic}-${partition}-${offset}` || runId.startsWith('spoiled-'),
        )
      )
        said.push(`The run ${runId} ended and was never asked for.`);
      continue;
    }
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
    if (key !== session) said.push(`The end of ${runId} has the key ${key}, not its session ${session}.`);
    if (text(record, 'kind') !== 'answer')
      said.push(`The run ${runId} ended with ${JSON.stringify(record['error'])} and not with its answer.`);
  }
  for (const [runId, count] of counts) if (count !== 1) said.push(`The run ${runId} has ${count} ends.`);
  return said;
}
