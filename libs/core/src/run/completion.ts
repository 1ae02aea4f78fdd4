import type { ConfiguredTool } from '../settings/configured-tool.js';

/** The tool type whose success ends the run with its result as the answer. */
const completingType = 'mark_complete';

export function endsRun(tool: Pick<ConfiguredTool, 'type'> | undefined): boolean {
  return tool?.type === completingType;
}
