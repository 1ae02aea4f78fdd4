import type { WaitingApproval } from '@sluice/client';

/** Calls that wait in one turn of a run, in their order; most often it is one. */
export type Turn = readonly [WaitingApproval, ...WaitingApproval[]];

/** The calls that wait, those of one turn together where the first of them stands. */
export function turnsOf(waiting: readonly WaitingApproval[]): readonly Turn[] {
  const turns = new Map<string, [WaitingApproval, ...WaitingApproval[]]>();
  for (const one of waiting) {
    const key = keyOf(one);
    const turn = turns.get(key);
    if (turn === undefined) turns.set(key, [one]);
    else turn.push(one);
  }
  for (const turn of turns.values()) turn.sort((one, other) => one.approval.index - other.approval.index);
  return [...turns.values()];
}

export function keyOf({ approval: { request_id: run, iteration } }: WaitingApproval): string {
  return `${run} ${iteration}`;
}
