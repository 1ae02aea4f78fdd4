import { recordsOf, stepsOf } from './observed.ts';
import type { Observed, Step } from './observed.ts';

/** Of so many effects most are known, whatever was broken: in runs seen it was one in seven at most that was not. */
const enoughToJudge = 100;

/**
 * Each effect happened once, or its step says `outcome_unknown`, which few do, or that its server was away; none
 * happened twice, and none that no step tells of.
 */
export function effects({ found, effects: done }: Observed): readonly string[] {
  const told = new Set<string>();
  const said: string[] = [];
  for (const [key, count] of done) if (count > 1) said.push(`The effect ${key} was done ${count} times.`);
  for (const { record } of recordsOf(found, 'agent.steps')) {
    for (const step of stepsOf(record, 'steps')) {
      const key = effectOf(step);
      if (key === null) {
        if (step.outcome !== 'ok') said.push(`A step without an effect failed: ${JSON.stringify(step)}.`);
        continue;
      }
      told.add(key);
      const wrong = mismatch(step, done.get(key) ?? 0);
      if (wrong !== null) said.push(`The effect ${key} ${wrong}.`);
    }
  }
  for (const key of done.keys()) if (!told.has(key)) said.push(`The effect ${key} was done, and no step tells of it.`);
  const unknown = unknownOutcomes({ found });
  if (told.size >= enoughToJudge && unknown > told.size / 2)
    said.push(`Of ${told.size} effects nobody knows of ${unknown} whether they happened.`);
  const made = [...told].filter((key) => (done.get(key) ?? 0) > 0).length;
  if (told.size >= enoughToJudge && made < told.size / 2) said.push(`Of ${told.size} effects ${made} were made.`);
  return said;
}

/** Effects whose steps say that nobody knows. */
export function unknownOutcomes({ found }: Pick<Observed, 'found'>): number {
  const all = recordsOf(found, 'agent.steps').flatMap(({ record }) => stepsOf(record, 'steps'));
  return new Set(all.filter(({ reason }) => reason === 'outcome_unknown').map(effectOf)).size;
}

function effectOf({ action, arguments: args }: Step): string | null {
  // Of a call for which the record has no room the arguments are left out, and it is not made.
  if (action !== 'act' || args === '') return null;
  const { run, turn } = JSON.parse(args) as { run: string; turn: number };
  return `${run}/${turn}`;
}

function mismatch({ outcome, reason }: Step, count: number): string | null {
  if (outcome === 'ok') return count === 0 ? 'is told to have been done, and was not' : null;
  if (reason === 'outcome_unknown') return null;
  if (outcome === 'unavailable') return count === 0 ? null : 'is told not to have begun, and was done';
  return `is told to have failed: ${outcome}, ${reason}`;
}
