import { at, number, recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/**
 * The requests of a session are taken in their order: their first Toolsets stand on the log as they do. One that came
 * twice counts where it came first.
 */
export function order({ found, spoiled }: Pick<Observed, 'found' | 'spoiled'>): readonly string[] {
  const aside = new Set(spoiled.map(at));
  const firsts = (topic: string): ReadonlyMap<string, readonly string[]> => {
    const sessions = new Map<string, string[]>();
    const all = recordsOf(found, topic).filter((one) => !aside.has(at(one)));
    for (const { record } of all.sort((one, other) => one.offset - other.offset)) {
      const session = text(record, 'session_id');
      const runs = sessions.get(session) ?? [];
      const isFirst = topic === 'agent.requests' || number(record, 'iteration') === 1;
      const run = text(record, 'request_id');
      if (isFirst && !runs.includes(run)) sessions.set(session, [...runs, run]);
    }
    return sessions;
  };
  const granted = firsts('agent.toolsets');
  const said: string[] = [];
  for (const [session, runs] of firsts('agent.requests')) {
    const taken = granted.get(session) ?? [];
    const asked = runs.filter((run) => taken.includes(run));
    if (asked.join() !== taken.filter((run) => runs.includes(run)).join())
      said.push(`The requests of ${session} came as ${asked.join(', ')} and were taken as ${taken.join(', ')}.`);
  }
  return said;
}
