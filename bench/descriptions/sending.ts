import { bindTools, compileEvaluator, fullTools, loadedTools, neededTools, noCalls } from '@sluice/core';
import { compileConfiguration, defaultSearchTool, formatProblems } from '@sluice/configuration';
import type { BindingFacts, BoundTools, ChoosingStrategy, Evaluator, JsonObject, ModelTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { chooseTools, searchToolOf } from '@sluice/discovery';
import type { Known, OfferedTool } from '@sluice/discovery';
import { builtInTools } from '@sluice/packs';
import { toolTypes } from '@sluice/tools';

/** Which built-in tool a question is about. */
export interface Labelled {
  readonly language: string;
  readonly tool: string;
  readonly question: string;
}

/** A way to describe the same tools to a model. */
export interface Approach {
  readonly name: string;
  readonly evaluator: Evaluator;
  /** How discovery chooses among them; null for all. */
  readonly strategy: ChoosingStrategy | null;
  /** Who finds what is not shown. */
  readonly search: 'sluice' | 'provider' | null;
  /** Whether the model reads the page of a tool that is sent short before it calls it. */
  readonly readsPages: boolean;
}

/** What has become of a job so far. */
export interface Progress {
  readonly question: string;
  readonly history: BindingFacts['history'];
  readonly found: ReadonlySet<string>;
  readonly used: ReadonlySet<string>;
}

export const atFirst = (question: string): Progress => ({ question, history: [], found: new Set(), used: new Set() });

/** How many tools a selection keeps. */
export const mostShown = 8;
export const selectionCounts = { minTools: 5, maxTools: mostShown, targetRatio: 0.8 };

/** What Anthropic’s search costs in the context, by its definition. */
const providerSearch: ModelTool = {
  id: 'tool_search_tool_bm25',
  description: '',
  inputSchema: { type: 'tool_search_tool_bm25_20251119' },
};

/**
 * The line of each group that is loaded on demand. Files, the time, texts and the end of the task are there from the
 * start.
 */
const groupLines = {
  todo: 'keep a list of tasks: add, start and complete them, see progress and what is next',
  document: 'read PDF, DOCX and HTML documents, split them, find requirements, entities and GoBD relevance in them',
  search: 'search the web',
  citation: 'cite passages of documents and web pages as evidence, list sources, check quotes',
  cache: 'submit complete requirements for validation',
  graph: 'query and change the knowledge graph',
};

interface Settings {
  readonly agent: JsonObject;
  readonly loads?: boolean;
}

function evaluatorOf(tools: readonly string[], { agent, loads = false }: Settings): Evaluator {
  const types = toolTypes(builtInTools);
  const keys = loads ? [...tools, 'load_toolset'] : tools;
  const entries = keys.map((key) => [
    key,
    { type: key, group: [types.find(({ type }) => type === key)?.category ?? 'other'] },
  ]);
  const policy = { allowed_tools: ['*'], approval: { none: 'This configuration is measured and runs nothing.' } };
  const { configuration, problems } = compileConfiguration(
    { tool: Object.fromEntries(entries), policy, agents: { default: agent } },
    { types, offers: [], digest: sha256, files: { read: () => ({ error: 'there is none' }), cedarProblems: () => [] } },
  );
  if (configuration === null) throw new Error(formatProblems(problems));
  return compileEvaluator(configuration);
}

/**
 * The approaches that are compared, the one that sends everything first. `hybrid` only where there is a model of
 * embeddings.
 */
export function approachesOver(tools: readonly string[], hasEmbeddings: boolean): readonly Approach[] {
  const full = evaluatorOf(tools, { agent: {} });
  const withSchemas = evaluatorOf(tools, { agent: { description_mode: 'deferred', deferred_schema: 'full' } });
  const minimal = evaluatorOf(tools, { agent: { description_mode: 'deferred', deferred_schema: 'minimal' } });
  const groups = evaluatorOf(tools, { agent: { deferred_groups: groupLines }, loads: true });
  const both = evaluatorOf(tools, {
    agent: { description_mode: 'deferred', deferred_schema: 'minimal', deferred_groups: groupLines },
    loads: true,
  });
  const plain = { strategy: null, search: null, readsPages: false };
  return [
    { name: 'full', evaluator: full, ...plain },
    { name: 'deferred, full schema', evaluator: withSchemas, ...plain },
    { name: 'deferred', evaluator: minimal, ...plain },
    { name: 'deferred, pages read', evaluator: minimal, ...plain, readsPages: true },
    { name: 'groups', evaluator: groups, ...plain },
    { name: 'groups, deferred, pages read', evaluator: both, ...plain, readsPages: true },
    { name: 'ranked', evaluator: full, ...plain, strategy: 'ranked', search: 'sluice' },
    ...(hasEmbeddings
      ? [{ name: 'hybrid', evaluator: full, ...plain, strategy: 'hybrid', search: 'sluice' } as const]
      : []),
    {
      name: 'ranked, deferred, pages read',
      evaluator: minimal,
      ...{ strategy: 'ranked', search: 'sluice', readsPages: true },
    },
    { name: 'provider search', evaluator: full, ...plain, search: 'provider' },
  ];
}

/** A tool as discovery knows it. */
export function asOffered({ id, description, inputSchema }: ModelTool): OfferedTool {
  return { name: id, description, parameters: inputSchema };
}

/** Every tool, in full. */
export function offeredBy({ evaluator }: Pick<Approach, 'evaluator'>): readonly ModelTool[] {
  const given = { groups: ['*'], state: null, toolIds: null, calls: noCalls, connections: [] };
  return fullTools(evaluator.evaluate(given));
}

/** How close each tool’s meaning is to a question; null where nothing knows. */
export type Closeness = (tools: readonly OfferedTool[], question: string) => Promise<readonly number[] | null>;

/** What a model is sent, by the functions that the agent and the proxy use. */
export async function sent(
  approach: Approach,
  { question, history, found, used }: Progress,
  closeness: Closeness,
): Promise<BoundTools> {
  const { evaluator, strategy, search } = approach;
  const facts: BindingFacts = { evaluator, history, toolChoice: { type: 'auto' } };
  const offered = offeredBy(approach);
  if (search === 'provider') {
    const core = offered.filter(({ id }) => alwaysShown.has(evaluator.byId(id)?.key ?? ''));
    return { tools: [providerSearch, ...core], deferred: [], note: null };
  }
  if (strategy === null) return bindTools(offered, facts);
  const tools = loadedTools(offered, facts).map(asOffered);
  const known: Known = strategy === 'hybrid' ? { closeness: await closeness(tools, question) } : {};
  const asked = {
    ...{ query: question, recentlyUsed: used, expanded: found },
    alwaysKeep: new Set(neededTools(offered, facts)),
  };
  const { kept } = chooseTools(strategy, tools, asked, selectionCounts, undefined, known);
  const bound = bindTools(
    offered,
    facts,
    kept.map((at) => tools[at]?.name ?? ''),
  );
  const { name, description, parameters } = searchToolOf(defaultSearchTool);
  return { ...bound, tools: [...bound.tools, { id: name, description, inputSchema: { ...parameters } as JsonObject }] };
}

/** The tools that a provider’s search leaves shown: those that are always in full elsewhere as well. */
const alwaysShown: ReadonlySet<string> = new Set([
  'read_file',
  'write_file',
  'add_todo',
  'complete_todo',
  'list_files',
]);
