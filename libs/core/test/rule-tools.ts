import type { RuleTool } from '@sluice/core';

interface WrittenTool {
  readonly group?: readonly string[];
  readonly state?: string;
  readonly available_in_states?: readonly string[];
}

/** The tools of a parsed configuration, read the short way: only for files that are known to be right. */
export function ruleToolsOf(file: unknown): readonly RuleTool[] {
  const { tool } = file as { readonly tool: Readonly<Record<string, WrittenTool>> };
  return Object.entries(tool).map(([key, written]) => ({
    key,
    groups: written.group ?? ['default'],
    states: written.available_in_states ?? ['*'],
    target: written.state ?? null,
  }));
}
