import {
  argumentOf,
  docsFolder,
  docsName,
  docsPath,
  fullTools,
  readFileType,
  toolChoiceOf,
  unloadedGroups,
} from '@sluice/core';
import type { ConfiguredTool, Evaluator, Step } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { offeredIds } from './tool-list.js';

/** Whether the page of a tool had been read when the tool was first used. */
type Documentation = 'read' | 'unread';

/** The first use of a tool whose description its model was not sent. */
export interface FirstUse {
  /** Where its page stands in the workspace. */
  readonly page: string;
  readonly documentation: Documentation;
}

/**
 * Looks at the calls before: null for a tool that was sent in full, or that was used before. A tool of a group that
 * is still to be loaded, and one that discovery left out, was not sent at all. Reading is the first use as far as the
 * page is concerned, and a call that went well is one.
 */
export function firstUse(
  toolId: string,
  { record, steps }: { readonly record: ToolCall; readonly steps: readonly Step[] },
  evaluator: Pick<Evaluator, 'tool' | 'byId' | 'configuration'>,
): FirstUse | null {
  const tool = evaluator.byId(toolId);
  if (tool === undefined || !(wasShort(toolId, record) || wasHeldBack(toolId, record, evaluator))) return null;
  const went = [...record.request.history, ...steps].filter(({ outcome }) => outcome === 'ok');
  const pages = pathsOf(tool);
  let documentation: Documentation = 'unread';
  for (const { action, arguments: args } of went) {
    const used = evaluator.tool(action);
    if (used?.id === toolId) return null;
    if (used?.type === readFileType && argumentOf(args, 'path').some((path) => pages.has(plain(path))))
      documentation = 'read';
  }
  return { page: docsPath(tool), documentation };
}

function wasShort(toolId: string, { model }: ToolCall): boolean {
  return model?.deferred.includes(toolId) ?? false;
}

/** Counts where pages must be read, and the model could read one. */
function wasHeldBack(
  toolId: string,
  record: ToolCall,
  evaluator: Pick<Evaluator, 'tool' | 'byId' | 'configuration'>,
): boolean {
  const { model, request, toolChoice } = record;
  const mustRead = evaluator.configuration.descriptions?.readBeforeUse ?? false;
  if (!mustRead || model === null) return false;
  const offered = offeredIds(record, evaluator);
  if (!offered.includes(toolId)) return false;
  const tools = offered.flatMap((id) => evaluator.byId(id) ?? []);
  if (!tools.some(({ type }) => type === readFileType)) return false;
  if (model.shown !== null && model.nativeSearch === null && !model.shown.includes(toolId)) return true;
  const facts = { evaluator, history: request.history, toolChoice: toolChoiceOf(toolChoice) };
  return [...unloadedGroups(fullTools({ offered: tools }), facts).values()].some((ids) => ids.includes(toolId));
}

/** A page is read by the name of its file, or by the name that the model knows the tool by. */
function pathsOf(tool: Pick<ConfiguredTool, 'id' | 'key'>): ReadonlySet<string> {
  return new Set([docsName(tool), tool.id].map((name) => `${docsFolder}/${name}.md`));
}

/** A path as the workspace takes it. */
function plain(path: string): string {
  return path
    .normalize('NFC')
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
