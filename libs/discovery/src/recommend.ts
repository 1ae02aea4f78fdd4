import { listGroups } from '@sluice/core';
import type { Evaluator, ListedGroup, ListedTool } from '@sluice/core';
import { habitWeight } from './choose.js';
import { habitShares } from './habits.js';
import type { Habits } from './habits.js';
import { ToolIndex } from './ranked.js';
import { stemsOf } from './stems.js';

/** A tool for which a group is recommended. */
interface RecommendedTool {
  readonly key: string;
  readonly score: number;
  /** The words of the question that it holds, as they stand there. */
  readonly words: readonly string[];
  /** How much the tenant’s models called it of late, from 0 to 1, among the tools that the caller may use. */
  readonly called: number;
}

export interface RecommendedGroup {
  readonly name: string;
  readonly score: number;
  /** Those that share a word with the question, best first. */
  readonly tools: readonly RecommendedTool[];
}

const mostGroups = 10;
const mostTools = 5;

/** How much a word counts that the group’s best tool lacks and another of its tools holds. */
const besideWeight = 0.5;

/** How much a group loses of its score where nearly all of its tools share no word with the question. */
const broadWeight = 0.2;

/**
 * The groups that suit a question, best first, of those that the caller may ask for: a right to ask for none follows
 * from it. A group scores as its best tool does, by the ranking of discovery over all tools that the caller may use,
 * and somewhat more for words that only its other tools hold. Where scores are equal, the group with fewer tools
 * comes first.
 */
export function recommendGroups(
  evaluator: Evaluator,
  permitted: readonly string[],
  question: string,
  habits: Habits = new Map(),
): readonly RecommendedGroup[] {
  const { groups, tools, index } = indexed(evaluator, permitted);
  const parts = index.parts(question);
  const words = index.scores(question);
  const asked = wordsOf(question);
  const shares = habitShares(
    habits,
    tools.map(({ id }) => id),
  );
  const most = words.reduce((found, score) => Math.max(found, score), 0);
  const judged = new Map(
    tools.map((tool, place): [ListedTool, Judged] => {
      const habit = habitWeight * most * (shares[place] ?? 0);
      return [tool, { tool, place, score: (words[place] ?? 0) + habit, matches: (words[place] ?? 0) > 0 }];
    }),
  );
  return groups
    .flatMap((group) => {
      const matching = group.tools.flatMap((tool) => judged.get(tool) ?? []).filter(({ matches }) => matches);
      const sorted = matching.toSorted((one, other) => other.score - one.score);
      const [best] = sorted;
      if (best === undefined) return [];
      const score = groupScore(best, matching, parts) * (1 - broadWeight * (1 - matching.length / group.tools.length));
      return [{ name: group.name, score: rounded(score), size: group.tools.length, sorted }];
    })
    .toSorted((one, other) => other.score - one.score || one.size - other.size)
    .slice(0, mostGroups)
    .map(({ name, score, sorted }) => ({
      name,
      score,
      tools: sorted.slice(0, mostTools).map(({ tool, place, score: own }): RecommendedTool => ({
        key: tool.key,
        score: rounded(own),
        words: [...asked].flatMap(([word, stems]) =>
          stems.some((stem) => parts.get(stem)?.has(place) === true) ? [word] : [],
        ),
        called: rounded(shares[place] ?? 0),
      })),
    }));
}

/** What is said where no group is recommended; null where one is. */
export function noteOn(groups: readonly RecommendedGroup[]): string | null {
  if (groups.length > 0) return null;
  return (
    'No permitted group has a tool that shares a word with the question. ' +
    'Words are compared, not meanings: ask in the language of the descriptions, or with other words.'
  );
}

interface Judged {
  readonly tool: ListedTool;
  readonly place: number;
  readonly score: number;
  /** Whether it shares a word with the question. */
  readonly matches: boolean;
}

type Parts = ReturnType<ToolIndex['parts']>;

function groupScore(best: Judged, matching: readonly Judged[], parts: Parts): number {
  let beside = 0;
  for (const points of parts.values())
    if (!points.has(best.place))
      beside += matching.reduce((most, { place }) => Math.max(most, points.get(place) ?? 0), 0);
  return best.score + besideWeight * beside;
}

interface Indexed {
  readonly groups: readonly ListedGroup[];
  /** Each tool of these groups, once. */
  readonly tools: readonly ListedTool[];
  readonly index: ToolIndex;
}

/**
 * Callers with the same rights ask about the same tools: indexes for so many different rights are kept with their
 * configuration.
 */
const rightsKept = 8;
const kept = new WeakMap<Evaluator, Map<string, Indexed>>();

function indexed(evaluator: Evaluator, permitted: readonly string[]): Indexed {
  const own = kept.get(evaluator) ?? new Map<string, Indexed>();
  const rights = JSON.stringify([...new Set(permitted)].sort());
  const before = own.get(rights);
  if (before !== undefined) return before;
  const groups = listGroups(evaluator, permitted, null);
  const tools = [...new Set(groups.flatMap((group) => group.tools))];
  const made = { groups, tools, index: new ToolIndex(tools.map((tool) => described(tool, evaluator))) };
  if (own.size >= rightsKept) own.clear();
  kept.set(evaluator, own.set(rights, made));
  return made;
}

function described({ key, id, description }: ListedTool, evaluator: Evaluator) {
  return { name: key, description, parameters: evaluator.byId(id)?.spec?.inputSchema ?? null };
}

/** The words of a question as they stand there, each with its stems. */
function wordsOf(question: string): ReadonlyMap<string, readonly string[]> {
  const words = question.match(/[\p{L}\p{N}](?:[\p{L}\p{N}_.:-]*[\p{L}\p{N}])?/gu) ?? [];
  return new Map(words.map((word) => [word, stemsOf(word)]));
}

function rounded(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}
