import { isTakenBack, number, recordsOf, stepsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/**
 * The steps of a run are numbered from 1 without gap or repeat, on agent.steps as in the history that its end tells.
 */
export function steps({ asked, found, spoiled }: Observed): readonly string[] {
  const copies = new Set(spoiled.map(({ topic, partition, offset }) => `${topic}/${partition}/${offset}`));
  const published = new Map<string, number[]>();
  const said: string[] = [];
  for (const one of recordsOf(found, 'agent.steps')) {
    const { record, topic, partition, offset } = one;
    if (copies.has(`${topic}/${partition}/${offset}`) || isTakenBack(one)) continue;
    const runId = text(record, 'request_id');
    const turn = number(record, 'iteration');
    const made = stepsOf(record, 'steps').map(({ iteration }) => iteration);
    if (made.some((iteration) => iteration !== turn))
      said.push(`Turn ${turn} of ${runId} holds steps of the turns ${made.join(', ')}.`);
    published.set(runId, [...(published.get(runId) ?? []), turn]);
  }
  const told = new Map(
    recordsOf(found, 'agent.responses').map(({ record }) => [
      text(record, 'request_id'),
      stepsOf(record, 'history').map(({ iteration }) => iteration),
    ]),
  );
  for (const { runId, isCall: isOwn } of asked) {
    const turns = published.get(runId) ?? [];
    const inOrder = turns.map((_, index) => index + 1);
    if (turns.join() !== inOrder.join()) said.push(`The steps of ${runId} are numbered ${turns.join(', ')}.`);
    if (isOwn && turns.length === 0) said.push(`The call ${runId} has 0 steps.`);
    const history = told.get(runId);
    if (history !== undefined && history.join() !== turns.join())
      said.push(`The end of ${runId} tells of the steps ${history.join(', ')}; on the log are ${turns.join(', ')}.`);
  }
  return said;
}
