import { recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/**
 * Every run that was asked for has exactly one end, an answer; a request that was spoiled one too, an error; and
 * nobody else's run has any.
 */
export function ends({ asked, found, spoiled }: Observed): readonly string[] {
  const counts = new Map<string, number>();
  const sessions = new Map(asked.map(({ runId, sessionId }) => [runId, sessionId]));
  const refused = new Set(spoiled.flatMap(({ runId }) => runId ?? []));
  const said: string[] = [];
  for (const { record, key } of recordsOf(found, 'agent.responses')) {
    const runId = text(record, 'request_id');
    counts.set(runId, (counts.get(runId) ?? 0) + 1);
    const session = sessions.get(runId);
    if (session !== undefined && key !== session)
      said.push(`The end of ${runId} has the key ${key}, not its session ${session}.`);
    const isAnswer = text(record, 'kind') === 'answer';
    if (session !== undefined && !isAnswer)
      said.push(`The run ${runId} ended with ${JSON.stringify(record['error'])} and not with its answer.`);
    if (refused.has(runId) && isAnswer) said.push(`The run ${runId} ended with an answer; its request was spoiled.`);
    if (session === undefined && !refused.has(runId)) said.push(`The run ${runId} ended and was never asked for.`);
  }
  for (const runId of [...sessions.keys(), ...refused]) {
    const count = counts.get(runId) ?? 0;
    if (count !== 1) said.push(`The run ${runId} has ${count} ends.`);
  }
  return said;
}
