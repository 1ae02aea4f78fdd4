import type { ModelStep } from '@sluice/core';
import type { Clause } from './clauses.js';
import { idFits } from './fitness.js';

/** A clause and the steps that were made for it. */
export interface ClauseProgress {
  readonly clause: Clause;
  readonly steps: readonly ModelStep[];
}

/**
 * Reads off the history how far a question has come. A step belongs to the clause that its thought quotes; a step of
 * made by something else belongs to the first open clause that its tool fits, if its arguments name what the clause is
 * about. So steps for an earlier question do not count for this one.
 */
export function progressOf(clauses: readonly Clause[], history: readonly ModelStep[]): ClauseProgress[] {
  const steps: ModelStep[][] = clauses.map(() => []);
  let open = 0;
  let lines: readonly string[] = [];
  for (const step of history) {
    // A turn’s thought stands with its first step, and has a line for each call.
    if (step.index === 0) lines = step.thought.split('\n');
    const at = clauseOf({ ...step, thought: lines[step.index] ?? step.thought }, clauses, open);
    if (at === -1) continue;
    steps[at]?.push(step);
    if (step.outcome === 'ok') open = Math.max(open, at + 1);
  }
  return clauses.map((clause, index) => ({ clause, steps: steps[index] ?? [] }));
}

/** The first clause that is still to be done: those before the last one done were skipped and stay so. */
export function firstOpen(progress: readonly ClauseProgress[]): number {
  return progress.findLastIndex(({ steps }) => steps.some((step) => step.outcome === 'ok')) + 1;
}

function clauseOf(step: ModelStep, clauses: readonly Clause[], open: number): number {
  const quotes = (clause: Clause) => step.thought.startsWith(`For ${clause.key} I call `);
  const fits = (clause: Clause) =>
    idFits(step.toolId, clause) &&
    clause.names.every((name) => step.arguments.includes(name)) &&
    !step.thought.startsWith('For "');
  const ahead = clauses.findIndex((clause, index) => index >= open && quotes(clause));
  if (ahead !== -1) return ahead;
  const behind = clauses.findIndex(quotes);
  return behind !== -1 ? behind : clauses.findIndex((clause, index) => index >= open && fits(clause));
}
