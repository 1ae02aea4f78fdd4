import { defaultSearchTool } from '@sluice/configuration';
import { firstSentence, loadToolsetType, toolPage } from '@sluice/core';
import type { BoundTools, ModelTool } from '@sluice/core';
import { searchResultText, searchTools } from '@sluice/discovery';
import { definitionText } from '@sluice/tokens';
import { asOffered, atFirst, offeredBy, sent } from './sending.js';
import type { Approach, Closeness, Labelled, Progress } from './sending.js';

/** What an approach puts into one request, as texts: definitions, then what it left in the conversation. */
export interface Request {
  readonly definitions: readonly string[];
  readonly left: readonly string[];
}

/** A finished job. */
export interface Job {
  readonly requests: readonly Request[];
  /** Requests that do none of the job’s work: pages read, groups loaded, searches. */
  readonly extraCalls: number;
}

/** Searches and pages that a step may need before its call; more means that its tool cannot be reached. */
const mostExtra = 4;

/**
 * Plays a job: a scripted model that calls the right tool at each step, and before it does whatever the approach asks
 * for. The work’s own conversation is the same whatever the approach, and is left out.
 */
export async function play(approach: Approach, steps: readonly Labelled[], closeness: Closeness): Promise<Job> {
  const requests: Request[] = [];
  const left: string[] = [];
  const read = new Set<string>();
  let progress: Progress = atFirst('');
  for (const { question, tool } of steps) {
    progress = { ...progress, question };
    for (let tries = 0; ; tries++) {
      const bound = await sent(approach, progress, closeness);
      requests.push({ definitions: bound.tools.map(definitionText), left: [...left] });
      const next = await before(approach, bound, { tool, progress, read });
      if (next === null) break;
      if (tries >= mostExtra) throw new Error(`${approach.name} does not reach ${tool}.`);
      left.push(...next.left);
      progress = next.progress;
      if (next.isSameRequest) break;
    }
    progress = { ...progress, used: new Set([...progress.used, wanted(approach, tool).id]) };
  }
  return { requests, extraCalls: requests.length - steps.length };
}

interface Before {
  readonly left: readonly string[];
  readonly progress: Progress;
  /** The provider searches within the request. */
  readonly isSameRequest: boolean;
}

/** What the model does before it can call the tool of a step; null where it calls it at once. */
async function before(
  approach: Approach,
  { tools, deferred }: BoundTools,
  { tool, progress, read }: { readonly tool: string; readonly progress: Progress; readonly read: Set<string> },
): Promise<Before | null> {
  const { evaluator } = approach;
  const target = wanted(approach, tool);
  const configured = evaluator.byId(target.id);
  if (tools.some(({ id }) => id === target.id)) {
    if (!approach.readsPages || !deferred.includes(target.id) || read.has(target.id) || configured === undefined)
      return null;
    read.add(target.id);
    const call = JSON.stringify({ path: `tools/${tool}.md` });
    return { left: [call, toolPage(configured, target.id)], progress, isSameRequest: false };
  }
  if (approach.search === 'provider') {
    if (progress.found.has(target.id)) return null;
    const found = new Set([...progress.found, target.id]);
    return { left: [definitionText(target)], progress: { ...progress, found }, isSameRequest: true };
  }
  if (approach.search === 'sluice') return searched(approach, tool, progress);
  const loader = tools.find(({ id }) => evaluator.byId(id)?.type === loadToolsetType);
  const group = configured?.groups[0];
  if (loader === undefined || group === undefined) throw new Error(`${approach.name} does not reach ${tool}.`);
  return { left: loaded(approach, group), progress: withLoaded(progress, group), isSameRequest: false };
}

async function searched(approach: Approach, tool: string, progress: Progress): Promise<Before> {
  const all = offeredBy(approach).map(asOffered);
  const query = tool.replace(/[_-]/g, ' ');
  const { matches } = await searchTools(all, tool, { maxResults: 5, alwaysKeep: new Set() });
  const found = matches.flatMap((at) => all[at] ?? []);
  return {
    left: [JSON.stringify({ [defaultSearchTool]: { query } }), searchResultText(query, found)],
    progress: { ...progress, found: new Set([...progress.found, ...found.map(({ name }) => name)]) },
    isSameRequest: false,
  };
}

/** A group’s call and its answer. */
function loaded(approach: Approach, group: string): readonly string[] {
  const tools = offeredBy(approach).flatMap(({ id, description }) => {
    const own = approach.evaluator.byId(id);
    if (own === undefined || !own.groups.includes(group)) return [];
    return { name: id, description: own.shortDescription ?? firstSentence(description) };
  });
  return [JSON.stringify({ group }), JSON.stringify({ group, tools, total: tools.length })];
}

/** As if the model had loaded the group. */
export function withLoaded(progress: Progress, group: string): Progress {
  const step = { action: 'load_toolset', arguments: JSON.stringify({ group }), outcome: 'ok' };
  return { ...progress, history: [...progress.history, step] };
}

function wanted(approach: Approach, tool: string): ModelTool {
  const found = offeredBy(approach).find(({ id }) => approach.evaluator.byId(id)?.key === tool);
  if (found === undefined) throw new Error(`There is no tool ${tool}.`);
  return found;
}
