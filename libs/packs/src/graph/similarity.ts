import { setImmediate as othersFirst } from 'node:timers/promises';
import type { GraphNode, PropertyGraph } from './store.js';

/** From here on two texts are the same requirement. */
export const duplicateThreshold = 0.95;

export function isDuplicate(score: number): boolean {
  return score >= duplicateThreshold;
}

interface Similar {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** From 0 to 1. */
  readonly score: number;
}

/**
 * How alike two texts are, whatever their case and punctuation: Dice’s coefficient over the trigrams of their words,
 * as PostgreSQL’s pg_trgm cuts them, each counted as often as it occurs.
 */
export function similarity(a: string, b: string): number {
  return dice(trigramsOf(a), trigramsOf(b));
}

/** The requirements of the graph that are most like the text, the likest first. */
export async function similarIn(
  graph: PropertyGraph,
  text: string,
  least: number,
  most: number,
): Promise<readonly Similar[]> {
  const wanted = trigramsOf(text);
  const found: Similar[] = [];
  for (const [at, node] of (await graph.nodes('Requirement')).entries()) {
    if (at % 200 === 199) await othersFirst();
    const score = dice(wanted, trigramsOf(textOf(node, 'text')));
    if (score >= least) found.push({ ...described(node), score });
  }
  return found.sort((left, right) => right.score - left.score || (left.id < right.id ? -1 : 1)).slice(0, most);
}

interface Resolved {
  readonly match: 'exact' | 'fuzzy' | 'none';
  readonly id?: string;
  readonly name?: string;
  readonly score: number;
  readonly others: readonly { readonly id: string; readonly name: string; readonly score: number }[];
}

/** From here on a name is taken for another’s spelling. */
const fuzzyThreshold = 0.6;

/** The node of the label that a mention means: by id, name or alias, else the one whose name is most alike. */
export async function resolveIn(graph: PropertyGraph, label: string, mention: string): Promise<Resolved> {
  const wanted = folded(mention);
  const scored = (await graph.nodes(label))
    .map((node) => {
      const names = [textOf(node, 'id'), textOf(node, 'name'), ...aliasesOf(node)].filter((name) => name !== '');
      const isExact = names.some((name) => folded(name) === wanted);
      const score = isExact ? 1 : Math.min(0.99, Math.max(0, ...names.map((name) => similarity(name, mention))));
      return { id: textOf(node, 'id'), name: textOf(node, 'name'), score, isExact };
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  const others = scored
    .slice(0, 6)
    .filter(({ score }) => score >= 0.3)
    .map(({ id, name, score }) => ({ id, name, score }));
  const [best] = scored;
  if (best === undefined || best.score < fuzzyThreshold) return { match: 'none', score: best?.score ?? 0, others };
  const { id, name, score, isExact } = best;
  return { match: isExact ? 'exact' : 'fuzzy', id, name, score, others: others.slice(1) };
}

export function textOf({ properties }: GraphNode, name: string): string {
  const value = properties[name];
  return typeof value === 'string' ? value : '';
}

function described(node: GraphNode): Omit<Similar, 'score'> {
  return { id: textOf(node, 'id'), name: textOf(node, 'name'), text: textOf(node, 'text') };
}

function aliasesOf({ properties: { aliases } }: GraphNode): string[] {
  return Array.isArray(aliases) ? aliases.filter((each) => typeof each === 'string') : [];
}

function folded(text: string): string {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).join(' ');
}

type Trigrams = { readonly counts: ReadonlyMap<string, number>; readonly total: number };

function trigramsOf(text: string): Trigrams {
  const counts = new Map<string, number>();
  let total = 0;
  for (const word of folded(text).split(' ')) {
    if (word === '') continue;
    const letters = [...`  ${word} `];
    for (let at = 0; at + 2 < letters.length; at++, total++) {
      const trigram = letters.slice(at, at + 3).join('');
      counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    }
  }
  return { counts, total };
}

function dice(a: Trigrams, b: Trigrams): number {
  if (a.total + b.total === 0) return 0;
  let common = 0;
  for (const [trigram, count] of a.counts) common += Math.min(count, b.counts.get(trigram) ?? 0);
  return (2 * common) / (a.total + b.total);
}
