import type { ToolCall, Toolset } from '@sluice/contracts';
import { make, recordFromJson, recordNames, recordToJson } from '@sluice/contracts';
import type { RecordOf } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { calls } from '../harness/configurations.js';
import type { TestSystem } from '../harness/system.js';

/** The record that the honest agent would make of the Toolset: a call of the query tool under its grant. */
export function toolCallOf(toolset: Toolset, thought = 'forged'): ToolCall {
  const { requestId, sessionId, iteration, request, run, groups, configVersion, tools, grant, toolChoice } = toolset;
  const [tool, args] = calls.query;
  const call = { toolCallId: 'call-forged', tool, arguments: args, argumentsBytes: null, providerData: null };
  const offered = tools.map(({ id }) => id);
  return make.toolCall({
    requestId,
    sessionId,
    iteration,
    thought,
    calls: [call],
    request,
    run,
    groups,
    offered,
    configVersion,
    grant,
    toolChoice,
  });
}

export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const until = Date.now() + 60_000; ;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error('Not within 60 s.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The latest record of the run on the topic, once there is one. */
export async function latest<T extends 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps'>(
  system: TestSystem,
  topic: T,
  requestId: string,
): Promise<Incoming<T>> {
  return eventually(async () =>
    (await system.all(topic)).findLast((message) => (message.record as { requestId: string }).requestId === requestId),
  );
}

/** Writes a record as somebody does who may write to the topic and nothing else; resolves with its dead letter. */
export async function smuggle<T extends 'agent.toolsets' | 'agent.tool-calls' | 'agent.steps'>(
  system: TestSystem,
  topic: T,
  record: RecordOf<T>,
) {
  const known = (await system.all('agent.dead-letters')).length;
  const json = JSON.stringify(recordToJson(recordNames[topic], record));
  await system.bus.appendRaw(topic, record.sessionId, Buffer.from(json));
  const dead = await eventually(async () => (await system.all('agent.dead-letters'))[known]?.record);
  // What the bus kept is what was written.
  recordFromJson(recordNames[topic], JSON.parse(Buffer.from(dead.value).toString('utf8')));
  return dead;
}
