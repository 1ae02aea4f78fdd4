import {
  depthOf,
  docsFolder,
  docsName,
  documentedTools,
  fullTools,
  isWithin,
  loadedTools,
  loadToolsetType,
  noGroupTree,
  searchToolsType,
  toolChoiceOf,
  toolDocs,
  ToolUserError,
} from '@sluice/core';
import type { ConfiguredTool, Evaluator, ModelTool } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { joinedTools } from './joined-tools.js';
import { offeredIds } from './tool-list.js';

/** Tools of a group that an answer names: with the longest names it stays under 32 KB. */
export const mostNamed = 60;

/** A deferred group as the model hears of it that loads it. */
interface LoadedGroup {
  readonly group: string;
  readonly tools: { readonly name: string; readonly description: string }[];
  readonly total: number;
}

/** A folder of pages: texts by the names of their files, and other names for these. */
interface ToolPages {
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
  readonly aliases: ReadonlyMap<string, string>;
}

/** What the tools of a turn may know of the tools of its run: texts alone, no right. */
export class RunTools {
  constructor(
    private readonly record: ToolCall,
    private readonly evaluator: Evaluator,
  ) {}

  /** Those that its policy and its groups permit, in any state. */
  documented(): readonly ConfiguredTool[] {
    const { groups, request, run } = this.record;
    const facts = { groups, toolIds: request.toolIds, depth: depthOf(run) };
    return joinedTools(documentedTools(this.evaluator, facts), this.record, this.evaluator);
  }

  /**
   * The pages of these tools, for the workspace of the run; null where nothing is deferred, so that the model has all
   * texts already.
   */
  get pages(): ToolPages | null {
    if (this.evaluator.configuration.descriptions === undefined) return null;
    const tools = this.documented();
    const aliases = new Map(tools.map((tool) => [`${tool.id}.md`, `${docsName(tool)}.md`]));
    return { folder: docsFolder, files: toolDocs(tools), aliases };
  }

  /** The tools of a deferred group that this turn was offered. Throws ToolUserError where there is no such group. */
  load(group: string): LoadedGroup {
    const { descriptions, groupTree = noGroupTree } = this.evaluator.configuration;
    const offered = this.offered();
    const toolsOf = (name: string) =>
      offered.filter((tool) => tool.groups.some((one) => isWithin(one, [name], groupTree)));
    const groups = Object.keys(descriptions?.deferredGroups ?? {}).filter((name) => toolsOf(name).length > 0);
    if (!groups.includes(group)) {
      const known = groups.length === 0 ? 'There are no groups to load.' : `The groups are: ${groups.join(', ')}.`;
      throw new ToolUserError(`There is no group of this name to load. ${known}`);
    }
    const tools = toolsOf(group);
    const named = tools
      .slice(0, mostNamed)
      .map(({ id, shortDescription = '' }) => ({ name: id, description: shortDescription }));
    return { group, tools: named, total: tools.length };
  }

  /**
   * What a search for tools goes through: those that this turn was offered, in their full texts, but for groups that
   * are still to be loaded.
   */
  searchable(): readonly (ModelTool & { readonly shortDescription: string })[] {
    const { evaluator, record } = this;
    const { history } = record.request;
    const facts = { evaluator, history, toolChoice: toolChoiceOf(record.toolChoice) };
    return loadedTools(fullTools({ offered: this.offered() }), facts).flatMap((tool) => {
      const { type, shortDescription = '' } = evaluator.byId(tool.id) ?? {};
      return type === searchToolsType || type === loadToolsetType ? [] : [{ ...tool, shortDescription }];
    });
  }

  private offered(): readonly ConfiguredTool[] {
    const tools = offeredIds(this.record, this.evaluator).flatMap((id) => this.evaluator.byId(id) ?? []);
    return joinedTools(tools, this.record, this.evaluator);
  }
}
