import { largestProviderData, largestThought, utf8Length } from '@sluice/core';
import type { Limits, ModelTurn } from '@sluice/core';
import { maxPayloadBytes, payloadBytes, topics } from '@sluice/contracts';
import type { RequestedCall, Run, ToolCall, Toolset } from '@sluice/contracts';
import { toolCall } from './agent.js';
import { longestName } from './calls.js';
import { clientsLast } from './client-tools.js';

/** Bytes of the record that are kept free for its signature. */
const spareBytes = 8_192;

/**
 * The record of a model's turn that calls tools, as large as a record may be. The calls that may be made stand there
 * whole, unless their arguments are larger than may be; as many again that are too many stand there without their
 * arguments, so that the model hears of them; the rest is counted. Under a configuration of an earlier version it is
 * the turn as it is.
 */
export function boundedTurn(
  toolset: Toolset,
  run: Run,
  turn: Pick<ModelTurn, 'thought' | 'calls'> & Pick<ToolCall, 'model'> & Partial<Pick<ToolCall, 'decision'>>,
  limits: Limits,
): ToolCall {
  const { model, decision = null } = turn;
  const { callsPerTurn, argumentBytes } = limits;
  const whole = clientsLast(turn.calls).map((call) => ({
    ...call,
    argumentsBytes: null,
    providerData: call.providerData ?? null,
  }));
  if (callsPerTurn === undefined)
    return toolCall(toolset, run, { thought: turn.thought, calls: whole, omittedCalls: 0, model, decision });
  const thought = shortened(turn.thought);
  const kept = whole.slice(0, 2 * callsPerTurn).map(withoutArguments);
  const record = (): ToolCall =>
    toolCall(toolset, run, { thought, calls: kept, omittedCalls: turn.calls.length - kept.length, model, decision });
  const room = (): number => maxPayloadBytes - spareBytes - payloadBytes(topics.toolCalls, record());
  while (kept.length > 1 && room() < 0) kept.length = Math.floor(kept.length / 2);
  let left = room();
  for (const [index, call] of whole.slice(0, Math.min(callsPerTurn, kept.length)).entries()) {
    const bytes = utf8Length(call.arguments);
    if (bytes > argumentBytes || bytes > left) continue;
    kept[index] = { ...call, tool: shortName(call.tool), providerData: null };
    left -= bytes;
  }
  // Calls come first: a turn that needs all its room goes on without what its provider wants back.
  const data = whole.slice(0, kept.length).map(({ providerData }) => utf8Length(providerData ?? ''));
  if (data.reduce((sum, bytes) => sum + bytes, 0) > Math.min(left / 2, largestProviderData.history)) return record();
  for (const [index, { providerData }] of whole.slice(0, kept.length).entries()) {
    const call = kept[index] as RequestedCall;
    if (call.argumentsBytes === null) kept[index] = { ...call, providerData };
  }
  return record();
}

/**
 * What stands in the arguments' place is no JSON, so that an executor of an earlier version makes no call without
 * them.
 */
function withoutArguments(call: RequestedCall): RequestedCall {
  const bytes = utf8Length(call.arguments);
  return {
    ...call,
    tool: shortName(call.tool),
    arguments: `[${bytes} bytes left out]`,
    argumentsBytes: bytes,
    providerData: null,
  };
}

/** Longer than any tool's name, and so never one by being cut. */
function shortName(name: string): string {
  return name.slice(0, longestName + 1);
}

function shortened(thought: string): string {
  const bytes = utf8Length(thought);
  if (bytes <= largestThought) return thought;
  const note = (left: number) => `\n\n[The thought was longer: ${left} of its ${bytes} bytes were left out.]`;
  // A character that is cut through goes whole.
  const room = largestThought - utf8Length(note(bytes));
  const kept = Buffer.from(thought)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return kept + note(bytes - utf8Length(kept));
}
