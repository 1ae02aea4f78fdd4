import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, JsonValue, Step } from '@sluice/core';

/** Which formula a result is measured by. */
type ScoreKind = 'graph' | 'list' | 'text' | 'mcp' | 'change' | 'other' | 'failed';

/** How good a step’s result is by the formula of its tool’s kind, and the numbers that it took. */
interface FormulaScore {
  readonly kind: ScoreKind;
  /** From 0 to 1, to four places. */
  readonly formula: number;
  readonly inputs: Readonly<Record<string, number>>;
}

type ScoredTool = Pick<ConfiguredTool, 'type' | 'category' | 'spec' | 'mcp' | 'agent'>;
type ScoredStep = Pick<Step, 'outcome' | 'observation'>;

/** Words of a text that says it has no answer. */
const hedges = [
  /\b(?:i|we) (?:do not|don[’']t) know\b/i,
  /\b(?:i am|i[’']m|we are) (?:not sure|unsure|unable)\b/i,
  /\b(?:cannot|can[’']t|could not|couldn[’']t) (?:answer|find|determine|tell|say|be (?:found|determined|answered))\b/i,
  /\bno (?:information|data|results?|answer|match(?:es)?)\b/i,
  /\bnot (?:found|available|known|enough information)\b/i,
];

/** How a text begins that is an error in an answer’s clothes. */
const errorWords = /^\s*(?:error|failed|failure|exception|fatal|traceback)\b/i;

/** Where a text of some length ends unless it was cut off. */
const textEnd = /[.!?:;)\]}"'’”»`*|>…。！？\d]\s*$/;

/**
 * The confidence in a step’s result, from the recorded step and its tool alone. docs/strategies.md has the formulas.
 */
export function scoreStep(step: ScoredStep, tool: ScoredTool | undefined): FormulaScore {
  if (step.outcome !== 'ok') return scored('failed', 0, {});
  const { observation } = step;
  const value = parsed(observation);
  switch (kindOf(tool, value)) {
    case 'graph':
      return graph(value, observation);
    case 'list':
      return list(value);
    case 'text':
      return text(textIn(value, observation));
    case 'mcp':
      return mcp(value, observation);
    case 'change':
      return scored('change', 0.95, { done: 1 });
    case 'failed':
    case 'other': {
      const empty = isEmpty(value, observation) ? 1 : 0;
      return scored('other', empty === 1 ? 0.2 : 0.8, { empty });
    }
  }
}

function kindOf(tool: ScoredTool | undefined, value: JsonValue | undefined): ScoreKind {
  if (tool === undefined) return 'other';
  if (tool.agent !== undefined || tool.type === 'text-completion' || tool.mcp?.kind === 'prompt') return 'text';
  if (tool.spec !== null && tool.spec.effect !== 'read_only') return 'change';
  if (tool.mcp !== null) return 'mcp';
  if (tool.category === 'graph' && rowsIn(value) !== null) return 'graph';
  return listIn(value) === null ? 'other' : 'list';
}

/** Few rows say less than several, rows with gaps less than whole ones, and a part less than all. */
function graph(value: JsonValue | undefined, observation: string): FormulaScore {
  const rows = rowsIn(value) ?? [];
  const truncated = isTruncated(value) ? 1 : 0;
  const filled = share(rows.flatMap(cellsOf), (cell) => cell !== null && cell !== '');
  const inputs = { rows: rows.length, filled: roundScore(filled), truncated, bytes: observation.length };
  if (rows.length === 0) return scored('graph', 0.1, inputs);
  const size = 0.75 + 0.05 * Math.min(5, rows.length);
  return scored('graph', size * (0.5 + 0.5 * filled) * (truncated === 1 ? 0.8 : 1), inputs);
}

function list(value: JsonValue | undefined): FormulaScore {
  const items = listIn(value)?.length ?? 0;
  const truncated = isTruncated(value) ? 1 : 0;
  const inputs = { items, truncated };
  if (items === 0) return scored('list', 0.2, inputs);
  return scored('list', (0.8 + 0.04 * Math.min(5, items)) * (truncated === 1 ? 0.8 : 1), inputs);
}

/** A text is never quite certain; one that says it does not know, or that was cut off, is less so. */
function text(of: string): FormulaScore {
  const characters = of.trim().length;
  const hedged = hedgesIn(of);
  const cut = characters >= 80 && !textEnd.test(of) ? 1 : 0;
  const inputs = { characters, hedges: hedged, cut };
  if (characters === 0) return scored('text', 0, inputs);
  const length = Math.min(1, 0.7 + characters / 100);
  return scored('text', 0.85 * length * 0.5 ** hedged * (cut === 1 ? 0.8 : 1), inputs);
}

/** Of what another server’s tool gave only the form can be measured: data says more than words. */
function mcp(value: JsonValue | undefined, observation: string): FormulaScore {
  const words = textIn(value, observation);
  const structured = value !== undefined && typeof value === 'object' && value !== null && words === '' ? 1 : 0;
  const empty = isEmpty(value, observation) ? 1 : 0;
  const truncated = isTruncated(value) ? 1 : 0;
  const failed = errorWords.test(words) ? 1 : 0;
  const hedged = structured === 1 ? 0 : hedgesIn(words);
  const inputs = { structured, empty, truncated, error: failed, hedges: hedged };
  if (empty === 1) return scored('mcp', 0.1, inputs);
  const form = structured === 1 ? 0.9 : 0.8;
  return scored('mcp', form * 0.5 ** hedged * (truncated === 1 ? 0.8 : 1) * (failed === 1 ? 0.4 : 1), inputs);
}

function scored(kind: ScoreKind, formula: number, inputs: FormulaScore['inputs']): FormulaScore {
  return { kind, formula: roundScore(Math.min(1, Math.max(0, formula))), inputs };
}

/** Four places, so that the same figure is the same text everywhere. */
export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function parsed(observation: string): JsonValue | undefined {
  try {
    return JSON.parse(observation) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The rows of a graph’s result, however its tool calls them. */
function rowsIn(value: JsonValue | undefined): readonly JsonValue[] | null {
  return isJsonObject(value) && Array.isArray(value['rows']) ? value['rows'] : listIn(value);
}

/** The list that a result is, or has as its first member that is one. */
function listIn(value: JsonValue | undefined): readonly JsonValue[] | null {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return null;
  return Object.values(value).find((member) => Array.isArray(member)) ?? null;
}

function cellsOf(row: JsonValue): readonly JsonValue[] {
  if (Array.isArray(row)) return row;
  return isJsonObject(row) ? Object.values(row) : [row];
}

function share<T>(of: readonly T[], fits: (one: T) => boolean): number {
  return of.length === 0 ? 1 : of.filter(fits).length / of.length;
}

function isTruncated(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && (value['truncated'] === true || value['has_more'] === true);
}

/**
 * The words of a result that is a text, or has one as its member `text`, `answer` or in MCP’s list of contents; empty
 * where it is data.
 */
function textIn(value: JsonValue | undefined, observation: string): string {
  if (value === undefined) return observation;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textsOf(value);
  if (!isJsonObject(value)) return '';
  for (const name of ['text', 'answer']) {
    const member = value[name];
    if (typeof member === 'string') return member;
  }
  const { content } = value;
  return Array.isArray(content) ? textsOf(content) : '';
}

function textsOf(blocks: readonly JsonValue[]): string {
  return blocks
    .flatMap((block) => (isJsonObject(block) && typeof block['text'] === 'string' ? [block['text']] : []))
    .join('\n');
}

function hedgesIn(words: string): number {
  return Math.min(2, hedges.filter((hedge) => hedge.test(words)).length);
}

function isEmpty(value: JsonValue | undefined, observation: string): boolean {
  if (value === undefined) return observation.trim() === '';
  if (value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  // A count of nothing beside an empty list says nothing either.
  return Object.values(value).every((member) => member === 0 || isEmpty(member as JsonValue, ''));
}
