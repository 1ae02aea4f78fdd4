import { isJsonObject, type JsonObject, type ModelStep } from '@sluice/core';
import type { Clause } from './clauses.js';
import { inOneLine, jsonOf, labelOf, listed, rowsOf, wordsOfResult } from './observations.js';
import type { Plan } from './plan.js';
import type { ClauseProgress } from './progress.js';
import { stem, stemsOf } from './words.js';

/** The answer to a question, clause by clause: what was found or done, and plainly what was not. */
export function answerOf(progress: readonly ClauseProgress[], plans: ReadonlyMap<number, Plan>): string {
  const parts = progress.flatMap(({ clause, steps }, index) => {
    const found = steps.filter((step) => step.outcome === 'ok').map((step) => resultOf(clause, step));
    if (found.length > 0) return found;
    const left = clause.implied ? undefined : leftUndone(clause, plans.get(index) ?? failureIn(steps));
    return left === undefined ? [] : [left];
  });
  return [...new Set(parts)].join(' ') || 'There is nothing in the question that I know how to do.';
}

/** A part that was passed over after its calls had failed. */
function failureIn(steps: readonly ModelStep[]): Plan | undefined {
  const step = steps.at(-1);
  return step === undefined ? undefined : { kind: 'failed', step };
}

function resultOf(clause: Clause, step: ModelStep): string {
  const value = jsonOf(step.observation);
  const words = value === undefined ? step.observation.trim() : wordsOfResult(value);
  if (words) return asSentence(words);
  const rows = rowsOf(value);
  if (rows !== undefined) return rowsAnswer(clause, rows, isJsonObject(value) ? value['count'] : undefined);
  if (clause.intent.acts) return `Done: ${clause.text}.`;
  const line = value === undefined || value === null ? '' : inOneLine(value);
  return line === '' ? `Nothing was found for "${clause.text}".` : `${heading(clause)} ${asSentence(line)}`;
}

function rowsAnswer(clause: Clause, rows: readonly JsonObject[], count: unknown): string {
  const only = rows.length === 1 ? rows[0] : undefined;
  const items = only === undefined ? rows.flatMap((row) => labelOf(row) ?? inOneLine(row)) : [askedOf(clause, only)];
  const distinct = [...new Set(items)];
  if (distinct.length === 0) return `Nothing was found for "${clause.text}".`;
  if (distinct.length === 1) return `${heading(clause)} ${asSentence(listed(distinct))}`;
  const shown =
    typeof count === 'number' && count > rows.length ? `${rows.length} of ${count}` : `${distinct.length} in all`;
  return `${heading(clause)} ${listed(distinct)} (${shown}).`;
}

/** Of the row about the very thing that was asked about, the column that was asked for; of any other row, its name. */
function askedOf(clause: Clause, row: JsonObject): string {
  const label = labelOf(row);
  const isSubject = clause.names.some((name) => name.toLowerCase() === label?.toLowerCase());
  const wanted = stemsOf(clause.text);
  const column = isSubject ? Object.keys(row).find((key) => wanted.has(stem(key)) && row[key] !== label) : undefined;
  if (column !== undefined) return inOneLine(row[column] ?? '');
  return isSubject || label === undefined ? inOneLine(row) : label;
}

function leftUndone(clause: Clause, plan: Plan | undefined): string | undefined {
  switch (plan?.kind) {
    case undefined:
    case 'no_tool':
    case 'call':
      return `I found no tool among those offered that fits "${clause.text}", so that part is not done.`;
    case 'known':
      return resultOf(clause, plan.step);
    case 'unfilled':
      return `For "${clause.text}" ${plan.tool} would fit, but neither the question nor the results say what to give it for ${listed(plan.missing)}.`;
    case 'failed':
      return `I could not do "${clause.text}": ${plan.step.toolId} failed with ${plan.step.outcome}: ${asSentence(plan.step.observation.trim())}`;
  }
}

/** Repeats what is answered, so that the parts of an answer can be told apart. */
function heading({ text, target }: Clause): string {
  const about = target === null ? '' : ` (${target})`;
  const asks = /^(?:which|what|who|whose|where|when|how|is|are|does|do|did)\b/i.test(text);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${about}${asks ? '?' : ':'}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
