import type { ChoosingStrategy } from '@sluice/core';
import { fused } from './hybrid.js';
import { ToolIndex } from './ranked.js';
import { keepBest, keepCount, relevanceOf } from './relevance.js';
import type { RelevanceRequest, KeepCount } from './relevance.js';
import type { OfferedTool } from './tool.js';

/** Which tools of a request a model is shown. */
export interface Choice {
  /** Indexes of the tools that are kept, in the request’s order. */
  readonly kept: readonly number[];
  /** Indexes of the others, in the request’s order. */
  readonly deferred: readonly number[];
  /** The score of each tool, in the request’s order; null where none was needed. */
  readonly scores: readonly number[] | null;
  /** Why every tool was kept, where that was so. */
  readonly skipped: 'no_tools' | 'few_tools' | 'all_kept' | null;
}

/**
 * Chooses a request’s tools. `relevance` adds up fixed weights, repeats of words included. `ranked` puts tools in the
 * order of BM25F over name, description and parameters, `hybrid` joins that with the closeness of meanings; both
 * prefer, as `relevance` does, what the session has found and what was used before, and keep a tool for each sentence
 * of a question with several, as far as a quarter of the count goes. Tools that are always kept, or were found by a
 * search of the session, are kept beyond the count. The same input gives the same output.
 */
export function chooseTools(
  strategy: ChoosingStrategy,
  tools: readonly OfferedTool[],
  asked: RelevanceRequest,
  counts: KeepCount,
  indexOf = (list: readonly OfferedTool[]): ToolIndex => new ToolIndex(list),
  known: Known = {},
): Choice {
  if (tools.length === 0) return all(tools, 'no_tools');
  if (tools.length <= counts.minTools) return all(tools, 'few_tools');
  const count = keepCount(tools.length, counts);
  if (count >= tools.length) return all(tools, 'all_kept');
  const scores = scoring[strategy]({ tools, asked, indexOf, known });
  const isForced = ({ name }: OfferedTool): boolean => asked.alwaysKeep.has(name) || asked.expanded.has(name);
  const places = Math.trunc(count * sentencePlaces);
  const first = strategy === 'relevance' ? [] : indexOf(tools).bestOfSentences(asked.query).slice(0, places);
  const kept = keepBest(tools, scores, count, isForced, first);
  const shown = new Set(kept);
  const deferred = tools.flatMap((_, index) => (shown.has(index) ? [] : [index]));
  return { kept, deferred, scores, skipped: null };
}

/** The share of the count that is set aside for a tool of each sentence of the question. */
const sentencePlaces = 0.25;

/** What was used before in the conversation is put before what only shares words with the question. */
const usedBefore = 100;

/** What is known of the tools beside their texts. */
export interface Known {
  /**
   * How close each tool’s meaning is to the question, in the order of the tools; `hybrid` goes by words alone without
   * it.
   */
  readonly closeness?: readonly number[] | null;
  /** How much the tenant’s models called each of late, from 0 to 1; absent where that does not count. */
  readonly habits?: readonly number[];
}

/** How much a tool that is called most of all gains, as a share of the best score: less than a word that fits well. */
export const habitWeight = 0.2;

interface Scored {
  readonly tools: readonly OfferedTool[];
  readonly asked: RelevanceRequest;
  readonly indexOf: (list: readonly OfferedTool[]) => ToolIndex;
  readonly known: Known;
}

/** What each strategy that chooses gives every tool, in the order of the tools. */
const scoring: Readonly<Record<ChoosingStrategy, (scored: Scored) => readonly number[]>> = {
  relevance: ({ tools, asked }) => relevanceOf(tools, asked),
  ranked: (scored) => withUse(scored, words(scored)),
  hybrid: (scored) => {
    const closeness = scored.known.closeness ?? null;
    return withUse(scored, closeness === null ? words(scored) : fused(words(scored), closeness));
  },
};

function words({ tools, asked, indexOf }: Scored): readonly number[] {
  return Array.from(indexOf(tools).scores(asked.query));
}

/** Scores with what the conversation has used, and what the tenant's models call of late. */
function withUse({ tools, asked, known: { habits } }: Scored, scores: readonly number[]): readonly number[] {
  const most = habits === undefined ? 0 : scores.reduce((found, score) => Math.max(found, score), 0) || 1;
  return tools.map(({ name }, at) => {
    const habit = habitWeight * most * (habits?.[at] ?? 0);
    return (scores[at] ?? 0) + habit + (asked.recentlyUsed.has(name) ? usedBefore : 0);
  });
}

function all(tools: readonly OfferedTool[], skipped: Choice['skipped']): Choice {
  return { kept: tools.map((_, index) => index), deferred: [], scores: null, skipped };
}
