import { loadToolsetType, toolPage } from '@sluice/core';
import type { ModelTool } from '@sluice/core';
import { fused, ToolIndex } from '@sluice/discovery';
import type { OfferedTool } from '@sluice/discovery';
import { withLoaded } from './job.js';
import { asOffered, atFirst, sent } from './sending.js';
import type { Approach, Closeness, Progress } from './sending.js';

/** A tool for a question; null where none seems to suit. */
export interface Chosen {
  readonly tool: string | null;
  /** Requests beyond the one that chose. */
  readonly extraCalls: number;
}

/** How well each tool suits a question, by its texts. */
export type Ranking = (question: string, tools: readonly OfferedTool[]) => Promise<readonly number[]>;

/** By words alone, as the strategy `ranked` goes. */
export const byWords: Ranking = async (question, tools) => Array.from(new ToolIndex(tools).scores(question));

/** By words and meanings, as the strategy `hybrid` goes. */
export const byMeaning =
  (closeness: Closeness): Ranking =>
  async (question, tools) =>
    fused(await byWords(question, tools), (await closeness(tools, question)) ?? []);

/** Pages that the chooser reads of the tools which seem to suit best, and groups that it loads. */
const mostPages = 3;
const mostGroups = 3;

/**
 * Chooses a tool by what is sent alone, the same each time. It is no model: it compares words (or vectors) and
 * understands nothing, so that its figures compare approaches with each other and say nothing of how often a model is
 * right.
 */
export async function choose(
  approach: Approach,
  question: string,
  { ranking, closeness }: { readonly ranking: Ranking; readonly closeness: Closeness },
): Promise<Chosen> {
  const { evaluator, readsPages } = approach;
  const keyOf = (id: string): string | null => evaluator.byId(id)?.key ?? null;
  let progress: Progress = atFirst(question);
  for (let extraCalls = 0; ; extraCalls++) {
    const { tools, deferred } = await sent(approach, progress, closeness);
    const candidates = tools.flatMap((tool) => linesOf(tool, evaluator.byId(tool.id)?.type === loadToolsetType));
    const order = await bestFirst(ranking, question, candidates);
    const [best] = order;
    if (best === undefined) return { tool: null, extraCalls };
    if (best.group !== null && extraCalls < mostGroups) {
      progress = withLoaded(progress, best.group);
      continue;
    }
    const own = order.filter(({ group }) => group === null).slice(0, mostPages);
    if (!readsPages) return { tool: own[0] === undefined ? null : keyOf(own[0].name), extraCalls };
    const pages = own.map((candidate) => {
      const configured = evaluator.byId(candidate.name);
      const isRead = deferred.includes(candidate.name) && configured !== undefined;
      return isRead ? { ...candidate, description: toolPage(configured), parameters: null } : candidate;
    });
    const [last] = await bestFirst(ranking, question, pages);
    const read = own.filter(({ name }) => deferred.includes(name)).length;
    return { tool: last === undefined ? null : keyOf(last.name), extraCalls: extraCalls + read };
  }
}

interface Candidate extends OfferedTool {
  /** The group that is loaded if this suits best; null for a tool. */
  readonly group: string | null;
}

/** A tool, or each line of the tool that loads groups. */
function linesOf(tool: ModelTool, isLoader: boolean): readonly Candidate[] {
  if (!isLoader) return [{ ...asOffered(tool), group: null }];
  return [...tool.description.matchAll(/^- ([^:]+): (.*)$/gm)].map(([, group = '', description = '']) => ({
    ...{ name: group, description, parameters: null, group },
  }));
}

/** Those that suit at all, the best first; of equals the one that was sent first. */
async function bestFirst<T extends OfferedTool>(
  ranking: Ranking,
  question: string,
  tools: readonly T[],
): Promise<readonly T[]> {
  const scores = await ranking(question, tools);
  return tools
    .map((tool, at) => ({ tool, score: scores[at] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ tool }) => tool);
}
