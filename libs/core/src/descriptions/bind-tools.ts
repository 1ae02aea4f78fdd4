import type { ConfiguredTool } from '../settings/configured-tool.js';
import type { JsonObject } from '../json.js';
import type { ModelTool } from '../ports/model.js';
import type { Evaluator } from '../rules/evaluate.js';
import { isWithin, noGroupTree } from '../rules/group-tree.js';
import type { ToolChoice } from '../rules/tool-choice.js';
import type { Step } from '../run/step.js';
import { firstSentence } from './first-sentence.js';
import { loadToolsetType, readFileType } from './types.js';
import type { DescriptionSettings } from './types.js';

/** What decides about the form of a turn’s tools. */
export interface BindingFacts {
  readonly evaluator: Pick<Evaluator, 'byId' | 'tool' | 'configuration'>;
  /** The steps before the turn: groups that were loaded stay so. */
  readonly history: readonly Pick<Step, 'action' | 'arguments' | 'outcome'>[];
  readonly toolChoice: ToolChoice;
}

/** The tools of a turn in the form that its model is sent them. */
export interface BoundTools {
  /**
   * Those in full come first, each part in the order of the configuration, so that changes keep a long common
   * beginning.
   */
  readonly tools: readonly ModelTool[];
  /** Ids of those that are sent with their short description. */
  readonly deferred: readonly string[];
  /** What the model’s instructions say of it; null where nothing is deferred. */
  readonly note: string | null;
}

/** The folder of a run’s workspace with a page for each tool. */
export const docsFolder = 'tools';

/** Is added to the instructions of a model whose tools are deferred. */
export const readingNote = 'Before using an unfamiliar tool, read its documentation from `tools/<tool_name>.md`.';

/** Allows any object: of the arguments the page says more. The empty map is there for providers that ask for it. */
const openSchema: JsonObject = Object.freeze({ type: 'object', properties: Object.freeze({}) });

/**
 * Decides in which form each tool of a turn is sent to the model: the agent, `sluice explain`, `sluice tokens` and
 * the benchmark all use this function. It shortens texts and holds back groups until they are asked for; it decides
 * no right, and what it holds back still runs. `shown` has the ids that tool discovery chose, null for all.
 */
export function bindTools(
  offered: readonly ModelTool[],
  facts: BindingFacts,
  shown: readonly string[] | null = null,
): BoundTools {
  const settings = facts.evaluator.configuration.descriptions;
  const isShown = shown === null ? null : new Set(shown);
  const kept = loadedTools(offered, facts).filter(({ id }) => isShown?.has(id) ?? true);
  if (settings === undefined) return { tools: kept, deferred: [], note: null };
  const withGroups = kept.map((tool) => withGroupLines(tool, offered, settings, facts));
  if (!mayDefer(withGroups, settings, facts)) return { tools: withGroups, deferred: [], note: null };
  const { byId } = facts.evaluator;
  const [short, full] = split(withGroups, ({ id }) => byId(id)?.descriptionMode === 'deferred');
  if (short.length === 0) return { tools: withGroups, deferred: [], note: null };
  return {
    tools: [...full, ...short.map((tool) => shortForm(tool, byId(tool.id), settings))],
    deferred: short.map(({ id }) => id),
    note: readingNote,
  };
}

/** What a decision offers, in full, as a model would see it without a word about descriptions. */
export function fullTools({
  offered,
}: {
  readonly offered: readonly Pick<ConfiguredTool, 'id' | 'spec'>[];
}): readonly ModelTool[] {
  return offered.map(({ id, spec }) => ({
    id,
    description: spec?.description ?? '',
    inputSchema: spec?.inputSchema ?? {},
  }));
}

/**
 * The tools of a turn without those of groups that are still to be loaded: what discovery chooses among, in their
 * full texts.
 */
export function loadedTools(offered: readonly ModelTool[], facts: BindingFacts): readonly ModelTool[] {
  const open = unloadedGroups(offered, facts);
  if (open.size === 0) return withoutLoader(offered, facts);
  const waiting = new Set([...open.values()].flat());
  return offered.filter(({ id }) => !waiting.has(id));
}

/**
 * Tools that discovery must not leave out, since the form of the others rests on them: the reader of files, the
 * loader of groups.
 */
export function neededTools(offered: readonly ModelTool[], facts: BindingFacts): readonly string[] {
  const { byId, configuration } = facts.evaluator;
  if (configuration.descriptions === undefined) return [];
  const anyDeferred = offered.some(({ id }) => byId(id)?.descriptionMode === 'deferred');
  return offered
    .filter(({ id }) => {
      const type = byId(id)?.type;
      return type === loadToolsetType || (anyDeferred && type === readFileType);
    })
    .map(({ id }) => id);
}

/** The deferred groups that this turn’s offer has tools of which are not loaded, with the ids of these tools. */
export function unloadedGroups(
  offered: readonly ModelTool[],
  { evaluator, history, toolChoice }: BindingFacts,
): ReadonlyMap<string, readonly string[]> {
  const none = new Map<string, readonly string[]>();
  const { descriptions, groupTree = noGroupTree } = evaluator.configuration;
  const deferred = Object.keys(descriptions?.deferredGroups ?? {});
  if (deferred.length === 0) return none;
  // Without the tool that loads them, groups would be out of reach.
  if (!offered.some(({ id }) => evaluator.byId(id)?.type === loadToolsetType)) return none;
  const loaded = loadedGroups(evaluator, history);
  const waiting = deferred.filter((group) => !loaded.has(group));
  const found = new Map<string, readonly string[]>();
  for (const { id } of offered) {
    const tool = evaluator.byId(id);
    if (tool === undefined || tool.groups.length === 0 || tool.type === loadToolsetType) continue;
    if (toolChoice.type === 'tool' && toolChoice.id === id) continue;
    if (!tool.groups.every((group) => isWithin(group, waiting, groupTree))) continue;
    for (const group of waiting)
      if (tool.groups.some((one) => isWithin(one, [group], groupTree)))
        found.set(group, [...(found.get(group) ?? []), id]);
  }
  return found;
}

/** The groups that the run loaded: what a step of `load_toolset` names that went well. */
function loadedGroups(evaluator: Pick<Evaluator, 'tool'>, history: BindingFacts['history']): ReadonlySet<string> {
  const groups = history.flatMap(({ action, outcome, arguments: args }) =>
    outcome === 'ok' && evaluator.tool(action)?.type === loadToolsetType ? argumentOf(args, 'group') : [],
  );
  return new Set(groups);
}

/** The text argument of this name, in a list; an empty list where there is none. */
export function argumentOf(args: string, name: string): readonly string[] {
  try {
    const value = (JSON.parse(args) as Readonly<Record<string, unknown>> | null)?.[name];
    return typeof value === 'string' ? [value] : [];
  } catch {
    return [];
  }
}

/** A model that has nothing to load needs no tool for it. */
function withoutLoader(offered: readonly ModelTool[], { evaluator, toolChoice }: BindingFacts): readonly ModelTool[] {
  if (evaluator.configuration.descriptions === undefined) return offered;
  const isChosen = (id: string): boolean => toolChoice.type === 'tool' && toolChoice.id === id;
  return offered.filter(({ id }) => evaluator.byId(id)?.type !== loadToolsetType || isChosen(id));
}

function withGroupLines(
  tool: ModelTool,
  offered: readonly ModelTool[],
  { deferredGroups }: DescriptionSettings,
  facts: BindingFacts,
): ModelTool {
  const { byId } = facts.evaluator;
  if (byId(tool.id)?.type !== loadToolsetType) return tool;
  const lines = [...unloadedGroups(offered, facts)].map(([group, ids]) => {
    const text = deferredGroups[group] ?? ids.map((id) => byId(id)?.key ?? id).join(', ');
    return `- ${group}: ${text}`;
  });
  return lines.length === 0 ? tool : { ...tool, description: [tool.description, 'Groups:', ...lines].join('\n') };
}

/** Short texts presuppose a tool that reads files: without one all are sent in full. So are turns with few tools. */
function mayDefer(tools: readonly ModelTool[], { deferredAbove }: DescriptionSettings, facts: BindingFacts): boolean {
  return tools.length > deferredAbove && tools.some(({ id }) => facts.evaluator.byId(id)?.type === readFileType);
}

function shortForm(
  tool: ModelTool,
  configured: Pick<ConfiguredTool, 'shortDescription'> | undefined,
  { deferredSchema }: DescriptionSettings,
): ModelTool {
  const description = configured?.shortDescription ?? firstSentence(tool.description);
  if (deferredSchema === 'full') return { ...tool, description };
  return { id: tool.id, description, inputSchema: openSchema, fullSchema: tool.inputSchema };
}

function split<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
