import { isJsonObject, type ModelTool } from '@sluice/core';
import type { Clause } from './clauses.js';
import { changesSomething, isOpposite, ordersThat } from './changes.js';
import type { Intent } from './intents.js';
import { stemsOf } from './words.js';

/** Below this a tool is not called for a clause. */
export const leastFitness = 4;

/** A tool's texts, its id taken apart: `mcp__<server>__<tool>` says what the tool does only in its last part. */
interface ToolTexts {
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly properties: string;
}

/**
 * How well a tool fits a clause: what speaks for the clause's intent and, worth more, the words it shares with the
 * clause, in its name more than in its description. 0 where nothing speaks for the intent, or where the tool changes
 * something and the clause orders no change.
 */
export function fitness(tool: ModelTool, clause: Clause): number {
  const texts = textsOf(tool);
  const { intent } = clause;
  if (!mayServe(tool, clause)) return 0;
  const spoken = intentFitness(texts, intent);
  const shared = sharedWords(texts, clause);
  if (intent.name === 'other') return shared;
  return spoken === 0 ? 0 : spoken + shared;
}

/**
 * Whether the tool may be called for the clause at all: one that changes something only for an order to change, and
 * not for the opposite one.
 */
export function mayServe(tool: ModelTool, { intent, text }: Clause): boolean {
  const texts = textsOf(tool);
  if (intent.acts) return !isOpposite(text, texts);
  return !changesSomething(texts) || ordersThat(text, texts);
}

/** Whether a tool of this id could have served the clause; used for past calls, of which only the id is known. */
export function idFits(toolId: string, clause: Clause): boolean {
  const texts = textsOf({ id: toolId, description: '', inputSchema: {} });
  return (clause.intent.acts || !changesSomething(texts)) && intentFitness(texts, clause.intent) > 0;
}

function intentFitness(texts: ToolTexts, { clearly, weakly }: Intent): number {
  const points = [
    { text: texts.name, words: clearly, worth: 4 },
    { text: texts.name, words: weakly, worth: 2 },
    { text: texts.description, words: clearly, worth: 2 },
    { text: texts.description, words: weakly, worth: 1 },
  ];
  return points.reduce((sum, { text, words, worth }) => sum + (holds(text, words) ? worth : 0), 0);
}

function sharedWords(texts: ToolTexts, clause: Clause): number {
  const wanted = stemsOf(clause.text);
  const points = [
    { stems: stemsOf(texts.name), each: 5 },
    { stems: stemsOf(texts.description), each: 3 },
    { stems: stemsOf(`${texts.server} ${texts.properties}`), each: 1 },
  ];
  const total = [...wanted].reduce((sum, word) => sum + (points.find(({ stems }) => stems.has(word))?.each ?? 0), 0);
  return Math.min(total, 12);
}

function holds(text: string, words: RegExp): boolean {
  return text.search(words) !== -1;
}

function textsOf(tool: ModelTool): ToolTexts {
  const parts = tool.id.split('__');
  const properties = isJsonObject(tool.inputSchema['properties']) ? tool.inputSchema['properties'] : {};
  const described = Object.entries(properties).map(([name, schema]) =>
    isJsonObject(schema) && typeof schema['description'] === 'string' ? `${name} ${schema['description']}` : name,
  );
  return {
    name: spaced(parts.at(-1) ?? tool.id),
    server: parts.length > 2 ? spaced(parts[1] ?? '') : '',
    description: tool.description,
    properties: spaced(described.join(' ')),
  };
}

function spaced(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_\-./]+/g, ' ')
    .trim();
}
