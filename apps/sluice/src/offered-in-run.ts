import type { ConfiguredTool, Evaluator } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { LogReader } from '@sluice/bus';
import { compiledFrom, offeredWithSchema, ownCallIn, toolsetOfCall } from '@sluice/run';
import type { AppliedConfiguration } from '@sluice/run';

/** What the Toolsets of a run say of a schema. */
export interface OfferedInRun {
  /** Whether the log has a run of that name. */
  readonly isKnown: boolean;
  /** The tools that have it, and the configuration by which each was offered. */
  readonly tools: readonly { readonly version: string; readonly tool: ConfiguredTool }[];
  /** Versions of configurations that the run names and that cannot be had. */
  readonly missing: readonly string[];
}

/** The tools that the run was offered whose schema, with the bounds of their arguments, has this hash. */
export async function offeredInRun(
  log: LogReader,
  requestId: string,
  hash: string,
  configurations: readonly Pick<AppliedConfiguration, 'version' | 'read'>[],
): Promise<OfferedInRun> {
  const evaluators = new Map<string, Evaluator | null>();
  const evaluatorOf = (version: string): Evaluator | null => {
    let evaluator = evaluators.get(version);
    if (evaluator === undefined) evaluators.set(version, (evaluator = compiledOf(version, configurations)));
    return evaluator;
  };
  let isKnown = false;
  const tools: { version: string; tool: ConfiguredTool }[] = [];
  const options = { from: 'start', onUndecodable: () => undefined } as const;
  for await (const { topic, record } of log.read([topics.toolsets, topics.toolCalls, topics.steps], options)) {
    if (record.requestId !== requestId) continue;
    const own = topic === topics.toolsets ? null : ownCallIn(record);
    if (topic !== topics.toolsets && own === null) continue;
    isKnown = true;
    const { configVersion: version } = record;
    const evaluator = evaluatorOf(version);
    if (evaluator === null) continue;
    const toolset = topic === topics.toolsets ? record : own === null ? null : toolsetOfCall(own, evaluator);
    const found = toolset === null ? [] : offeredWithSchema(toolset, hash, evaluator);
    tools.push(...found.map((tool) => ({ version, tool })));
  }
  const missing = [...evaluators].flatMap(([version, evaluator]) => (evaluator === null ? [version] : []));
  return { isKnown, tools, missing };
}

/** Null where the log has no configuration of this version that can be read. */
function compiledOf(version: string, configurations: Parameters<typeof offeredInRun>[3]): Evaluator | null {
  const applied = configurations.findLast((one) => one.version === version);
  if (applied === undefined) return null;
  try {
    return compiledFrom(applied.read()).evaluator;
  } catch {
    return null;
  }
}
