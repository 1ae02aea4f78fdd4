import { isJsonObject, type JsonObject, type ModelStep, type ModelTool } from '@sluice/core';
import type { Clause } from './clauses.js';
import { inOneLine, jsonOf, labelOf, listed, rowsOf, wordsOfResult } from './observations.js';
import type { Plan } from './plan.js';
import type { ClauseProgress } from './progress.js';
import { stem, stemsOf } from './words.js';

/** The answer to a question, clause by clause: what was found or done, and plainly what was not. */
export function answerOf(
  progress: readonly ClauseProgress[],
  plans: ReadonlyMap<number, Plan>,
  tools: readonly ModelTool[],
): string {
  let isUnderstood = true;
  const isAnyDone = progress.some(({ steps }) => steps.some((step) => step.outcome === 'ok'));
  const parts = progress.flatMap(({ clause, steps }, index) => {
    const found = steps.filter((step) => step.outcome === 'ok').map((step) => resultOf(clause, step));
    if (found.length > 0) {
      isUnderstood &&= !found.includes(notUnderstood(clause));
      return found;
    }
    if (clause.implied) return [];
    const plan = plans.get(index) ?? failureIn(steps);
    const left = leftUndone(clause, plan, isAnyDone);
    const isDone = plan?.kind === 'known' && left !== notUnderstood(clause);
    isUnderstood &&= isAnyDone || isDone || plan?.kind === 'failed';
    return [left];
  });
  if (parts.length === 0) return `I do not understand that. ${whatICanDo(tools)}`;
  return [...new Set(parts), ...(isUnderstood ? [] : [whatICanDo(tools)])].join(' ');
}

function notUnderstood({ text }: Clause): string {
  return `I do not understand "${text}".`;
}

/** Tools that an answer names, at most, and how much of a description. */
const namedTools = 8;
const shownOfDescription = 80;

/** What to ask instead, by the tools that are offered. */
function whatICanDo(tools: readonly ModelTool[]): string {
  const rules = 'I am the built-in rule-based model: I match the words of a question with those of the tools';
  if (tools.length === 0) return `${rules}, and none is offered here.`;
  const named = tools.slice(0, namedTools).map(({ id, description }) => {
    const [sentence = ''] = description.split(/(?<=[.!?])\s|\n/);
    const short = sentence.length > shownOfDescription ? `${sentence.slice(0, shownOfDescription)}…` : sentence;
    return short === '' ? id : `${id} (${short.replace(/\.$/, '')})`;
  });
  const more = tools.length > namedTools ? `; and ${tools.length - namedTools} more` : '';
  return `${rules} that are offered, which are: ${named.join('; ')}${more}.`;
}

/** A part that was skipped after its calls had failed. */
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

/**
 * What is known of one thing, each row a relation with its value: those that the clause asks for; else it asked for
 * none of them.
 */
function relationsAnswer(clause: Clause, rows: readonly JsonObject[]): string {
  const wanted = stemsOf(clause.names.reduce((text, name) => text.replaceAll(name, ' '), clause.text));
  const values = rows
    .filter(({ relation }) => typeof relation === 'string' && [...stemsOf(relation)].some((one) => wanted.has(one)))
    .map(({ value }) => inOneLine(value ?? ''));
  return values.length === 0 ? notUnderstood(clause) : `${heading(clause)} ${asSentence(listed(values))}`;
}

function rowsAnswer(clause: Clause, rows: readonly JsonObject[], count: unknown): string {
  if (rows.length > 1 && rows.every((row) => 'relation' in row && 'value' in row)) return relationsAnswer(clause, rows);
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

/**
 * A part of a question that is otherwise answered is skipped; a question of which nothing is done is not understood.
 */
function leftUndone(clause: Clause, plan: Plan | undefined, isAnyDone: boolean): string {
  const { text } = clause;
  switch (plan?.kind) {
    case undefined:
    case 'no_tool':
    case 'call':
      return isAnyDone
        ? `I found no tool among those offered that fits "${text}", so that part is not done.`
        : `I do not understand "${text}": I found no tool among those offered that fits it, so nothing was done.`;
    case 'known':
      return resultOf(clause, plan.step);
    case 'unfilled':
      return `${isAnyDone ? `For "${text}"` : `I do not understand "${text}":`} ${plan.tool} would fit, but neither the question nor the results say what to give it for ${listed(plan.missing)}.`;
    case 'failed':
      return `I could not do "${clause.text}": ${plan.step.toolId} failed with ${plan.step.outcome}: ${asSentence(plan.step.observation.trim())}`;
  }
}

/** Repeats what is answered, so that the parts of an answer can be distinguished. */
function heading({ text, target }: Clause): string {
  const about = target === null ? '' : ` (${target})`;
  const asks = /^(?:which|what|who|whose|where|when|how|is|are|does|do|did)\b/i.test(text);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${about}${asks ? '?' : ':'}`;
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
