import { argumentOf, docsFolder, docsName, docsPath, readFileType } from '@sluice/core';
import type { ConfiguredTool, Evaluator, Step } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';

/** Whether the page of a tool had been read when the tool was first used. */
type Documentation = 'read' | 'unread';

/** The first use of a tool whose description its model was not sent. */
export interface FirstUse {
  /** Where its page stands in the workspace. */
  readonly page: string;
  readonly documentation: Documentation;
}

/**
 * Looks at the calls before: null for a tool that was sent in full, or that was used before. Reading is the first use
 * as far as the page is concerned, and a call that went well is one.
 */
export function firstUse(
  toolId: string,
  { record, steps }: { readonly record: ToolCall; readonly steps: readonly Step[] },
  evaluator: Pick<Evaluator, 'tool' | 'byId'>,
): FirstUse | null {
  const tool = evaluator.byId(toolId);
  if (tool === undefined || !(record.model?.deferred.includes(toolId) ?? false)) return null;
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
