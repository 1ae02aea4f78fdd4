import { payloadBytes, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { OpenRuntime } from '@sluice/host';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { openLoop } from './loop.js';
import { report } from './measure.js';

/** Turns of a run that call a tool, before the one that answers. */
const turns = 4;

const measured = [topics.toolsets, topics.toolCalls, topics.steps, topics.responses, topics.audit] as const;

/** Bytes of log that an iteration takes, by topic, with few tools and with many. */
export async function benchBytes(): Promise<void> {
  for (const [tools, goal] of [
    [10, 6],
    [1_000, 8],
  ] as const) {
    const found = await bytesOfRun(tools);
    const loop = found.get(topics.toolsets) ?? 0;
    const calls = found.get(topics.toolCalls) ?? 0;
    const steps = found.get(topics.steps) ?? 0;
    const all = [...found.values()].reduce((sum, bytes) => sum + bytes, 0);
    const kilobytes = (bytes: number, per: number): number => bytes / per / 1_024;
    report(`Log of a run with ${tools} tools and ${turns} turns that call one, as Avro`, [
      { name: 'a Toolset', value: kilobytes(loop, turns + 1), unit: 'KB' },
      { name: 'a ToolCall', value: kilobytes(calls, turns), unit: 'KB' },
      { name: 'an AgentStepResult', value: kilobytes(steps, turns), unit: 'KB' },
      { name: 'the AgentResponse', value: kilobytes(found.get(topics.responses) ?? 0, 1), unit: 'KB' },
      { name: 'audit entries of an iteration', value: kilobytes(found.get(topics.audit) ?? 0, turns + 1), unit: 'KB' },
      { name: 'all of an iteration', value: kilobytes(all, turns + 1), unit: 'KB', goal: { atMost: goal } },
    ]);
  }
}

async function bytesOfRun(tools: number): Promise<ReadonlyMap<Topic, number>> {
  const { system, close } = await openLoop(turns, { configured: configurationOf(tools) });
  try {
    return await run(system);
  } finally {
    await close();
  }
}

/** Tools with descriptions of the usual length, the one that the model calls first. */
function configurationOf(tools: number): string {
  const keys = ['now', ...Array.from({ length: tools - 1 }, (_, n) => `tool-${n + 1}`)];
  const about = 'Tells the time of a place.';
  const lines = keys.map((key) => `  ${key}: { type: get_current_time, description: "${about}", group: [work] }`);
  return `tool:\n${lines.join('\n')}\npolicy: { allowed_tools: [${keys.join(', ')}] }\n`;
}

/** The bytes of one run’s records, those of the audit about it among them. */
async function run({ runtime: { bus } }: OpenRuntime): Promise<ReadonlyMap<Topic, number>> {
  const id = 'run';
  const record = { ...newRequest('What time is it?', { requestId: id, sessionId: id }), group: ['work'] };
  await bus.publish([{ topic: topics.requests, key: id, record }]);
  const stop = new AbortController();
  const bytes = new Map<Topic, number>();
  for await (const message of bus.read(measured, { from: 'start', follow: true, signal: stop.signal })) {
    if (message.record.requestId !== id) continue;
    bytes.set(message.topic, (bytes.get(message.topic) ?? 0) + payloadBytes(message.topic, message.record));
    // The audit’s entry about the end is the last.
    if (message.topic === topics.audit && message.record.kind === 'run_ended') break;
  }
  stop.abort();
  return bytes;
}
