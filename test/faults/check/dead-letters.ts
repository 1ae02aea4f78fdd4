import { at, number, recordsOf, text } from './observed.ts';
import type { Observed } from './observed.ts';

/** What was spoiled is put aside once, by the right service, for the right reason; nothing else is. */
export function deadLetters({ spoiled, found }: Observed): readonly string[] {
  const letters = recordsOf(found, 'agent.dead-letters').map(({ record }) => ({
    group: text(record, 'group'),
    code: text(record, 'code'),
    reason: text(record, 'reason'),
    place: at({
      topic: text(record, 'topic'),
      partition: number(record, 'partition'),
      offset: number(record, 'offset'),
    }),
  }));
  const wanted = new Map(spoiled.map((one) => [at(one), one]));
  const said: string[] = [];
  for (const { place, group, code, reason } of letters) {
    const one = wanted.get(place);
    if (one === undefined || one.code === null)
      said.push(`${place} is a dead letter of ${group} (${code}: ${reason}), and nothing was wrong with it.`);
    else if (one.code !== code || one.group !== group)
      said.push(`${place} was put aside by ${group} as ${code}, not by ${one.group} as ${one.code}.`);
  }
  for (const [place, { code }] of wanted) {
    const count = letters.filter((letter) => letter.place === place).length;
    if (code !== null && count !== 1) said.push(`${place} has ${count} dead letters.`);
  }
  return said;
}
