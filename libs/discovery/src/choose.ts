import { ToolIndex } from './ranked.js';
import { keepBest, keepCount, relevanceOf } from './relevance.js';
import type { Asked, KeepCount } from './relevance.js';
import type { OfferedTool } from './tool.js';

/** Strategies that choose among a request’s tools by what was asked, before a model is. */
export const choosingStrategies = ['relevance', 'ranked'] as const;
export type ChoosingStrategy = (typeof choosingStrategies)[number];

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
 * Chooses a request’s tools. `relevance` adds up fixed weights, repeats of words included. `ranked` puts tools in the order of BM25F over
 * name, description and parameters, and prefers, as `relevance` does, what the session has found and what was used before. Tools that are
 * always kept, or were found by a search of the session, are kept beyond the count. The same input gives the same output.
 */
export function chooseTools(
  strategy: ChoosingStrategy,
  tools: readonly OfferedTool[],
  asked: Asked,
  counts: KeepCount,
): Choice {
  if (tools.length === 0) return all(tools, 'no_tools');
  if (tools.length <= counts.minTools) return all(tools, 'few_tools');
  const count = keepCount(tools.length, counts);
  if (count >= tools.length) return all(tools, 'all_kept');
  const scores = strategy === 'relevance' ? relevanceOf(tools, asked) : rankedScores(tools, asked);
  const isForced = ({ name }: OfferedTool): boolean => asked.alwaysKeep.has(name) || asked.expanded.has(name);
  const kept = keepBest(tools, scores, count, isForced);
  const shown = new Set(kept);
  const deferred = tools.flatMap((_, index) => (shown.has(index) ? [] : [index]));
  return { kept, deferred, scores, skipped: null };
}

/** What was used before in the conversation is put before what only shares words with the question. */
const usedBefore = 100;

function rankedScores(tools: readonly OfferedTool[], asked: Asked): readonly number[] {
  const scores = new ToolIndex(tools).scores(asked.query);
  return tools.map(({ name }, index) => (scores[index] ?? 0) + (asked.recentlyUsed.has(name) ? usedBefore : 0));
}

function all(tools: readonly OfferedTool[], skipped: Choice['skipped']): Choice {
  return { kept: tools.map((_, index) => index), deferred: [], scores: null, skipped };
}
