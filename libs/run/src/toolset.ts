import type { ConfiguredTool, Decision, RunState } from '@sluice/core';
import type { AgentRequest, HiddenTool, OfferedTool, Toolset } from '@sluice/contracts';

/** Reasons beyond this many bytes give way to counts. */
const hiddenBytes = 64 * 1024;

/**
 * The filter’s decision with all texts, as those who decide about a turn take it, and as former versions wrote it: the
 * log has what namingTools makes of it.
 */
export function toolset(
  ids: { readonly requestId: string; readonly sessionId: string },
  request: AgentRequest,
  run: RunState,
  decision: Pick<Decision, 'state' | 'groups' | 'offered' | 'hidden' | 'unknownGroups' | 'configVersion'>,
  toolChoice: string | null,
  now: number,
): Toolset {
  return {
    ...ids,
    iteration: run.iteration,
    request,
    run,
    state: decision.state,
    groups: decision.groups,
    tools: offeredForms(decision.offered),
    ...hiddenForms(decision.hidden),
    unknownGroups: decision.unknownGroups,
    // A member of the wire that no version ever filled: a tool that cannot run has no specification, which the
    // configuration says.
    unavailable: [],
    configVersion: decision.configVersion,
    decidedAt: now,
    grant: null,
    toolChoice,
    recordSignature: null,
    fallbackGroups: [],
    list: null,
    hiddenIndexes: [],
  };
}

/** Decisions share their lists (compileEvaluator), and so their records do. */
export const offeredForms = remembered((offered: readonly ConfiguredTool[]) => offered.map((tool) => wireForm(tool)));
const hiddenForms = remembered((hidden: readonly HiddenTool[]) => ({
  hidden: withinBudget(hidden),
  hiddenCounts: Object.freeze(countByReason(hidden)),
}));
const wireForm = remembered((tool: ConfiguredTool): OfferedTool => {
  if (tool.spec === null) throw new Error(`The tool ${tool.key} was offered without a specification.`);
  const { description, inputSchema, effect, schemaHash } = tool.spec;
  return { id: tool.id, key: tool.key, description, inputSchema: JSON.stringify(inputSchema), effect, schemaHash };
});

/**
 * The function, which makes its result once for each object as long as there is that object, and freezes what so many
 * share.
 */
function remembered<From extends object, To extends object>(make: (from: From) => To): (from: From) => Readonly<To> {
  const made = new WeakMap<From, Readonly<To>>();
  return (from) => {
    let result = made.get(from);
    if (result === undefined) made.set(from, (result = Object.freeze(make(from))));
    return result;
  };
}

function withinBudget(hidden: readonly HiddenTool[]): readonly HiddenTool[] {
  let bytes = 0;
  for (const tool of hidden) bytes += 16 + Buffer.byteLength(tool.key) + 12 * tool.reasons.length;
  return bytes <= hiddenBytes ? hidden : Object.freeze([]);
}

function countByReason(hidden: readonly HiddenTool[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reasons } of hidden) {
    const first = reasons[0] ?? 'unavailable';
    counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
}
