import { at, isTakenBack, number, recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/**
 * No hop of a turn was done twice: each turn has one Toolset, one ToolCall and one AgentStepResult on the log, but
 * for copies that we put there.
 */
export function turns({ found, spoiled }: Pick<Observed, 'found' | 'spoiled'>): readonly string[] {
  const copies = new Set(spoiled.map(at));
  const said: string[] = [];
  for (const topic of ['agent.toolsets', 'agent.tool-calls', 'agent.steps']) {
    const places = new Map<string, string[]>();
    for (const one of recordsOf(found, topic)) {
      if (copies.has(at(one)) || isTakenBack(one)) continue;
      const turn = `${text(one.record, 'request_id')}, turn ${number(one.record, 'iteration')}`;
      places.set(turn, [...(places.get(turn) ?? []), at(one)]);
    }
    for (const [turn, there] of places)
      if (there.length > 1)
        said.push(`The record of ${turn}, is on the log ${there.length} times: ${there.join(', ')}.`);
  }
  return said;
}
