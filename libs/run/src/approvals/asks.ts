import { keyOfRule } from '@sluice/core';
import type { ApprovalAsk, AskingRule, ConfiguredTool, Evaluator } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { ToolCall } from '@sluice/contracts';
import { callerOf } from '../calls.js';

/**
 * What several configurations ask of one call. A rule that two of them have asks for the more of both; who may decide
 * is as the last one says.
 */
export function mergedAsks(asks: readonly (readonly ApprovalAsk[])[]): readonly ApprovalAsk[] {
  const merged = new Map<string, ApprovalAsk>();
  for (const ask of asks.flat()) {
    const key = keyOfRule(ask);
    const before = merged.get(key);
    merged.set(key, before === undefined ? ask : stricter(before, ask));
  }
  const [first, ...others] = merged.values();
  // One approval of an approver of the policy answers all that asks for no more.
  if (first !== undefined && [first, ...others].every(({ rule }) => rule !== 'rule')) return [first];
  return [...merged.values()];
}

function stricter(before: ApprovalAsk, ask: ApprovalAsk): ApprovalAsk {
  return {
    ...ask,
    message: before.quorum > ask.quorum ? before.message : ask.message,
    quorum: Math.max(before.quorum, ask.quorum),
    expiresMs: Math.min(before.expiresMs, ask.expiresMs),
    onExpiry: before.onExpiry === 'run' ? ask.onExpiry : 'refuse',
  };
}

/** What asks, as the request has it: nothing where one approval of an approver of the policy is enough. */
export function askingRules(asks: readonly ApprovalAsk[], requestedAt: number): readonly AskingRule[] {
  if (asks.every(({ rule }) => rule !== 'rule')) return [];
  return asks.map(({ escalate, expiresMs: _, ...ask }) => ({
    ...ask,
    escalatesAt: escalate === null ? null : requestedAt + escalate.afterMs,
    escalateTo: escalate?.to ?? [],
  }));
}

/** What a call is when it is asked about. */
interface BoundCall {
  readonly record: ToolCall;
  /** The arguments as the model wrote them. */
  readonly written: string;
  readonly asks: readonly ApprovalAsk[];
  readonly state: string;
  /** The tool as the configuration in force has it. */
  readonly tool: ConfiguredTool | undefined;
}

/**
 * A digest of all that an approval is of: the tool and its definition, the arguments, what asked and why, the state,
 * the groups and the caller. Of a configuration it has what is said of this call, so that another version that changes
 * other things asks no one again.
 */
export function boundTo({ record, written, asks, state, tool }: BoundCall): string {
  const { actorId, subjectId = null, tenantId } = callerOf(record);
  return sha256(
    JSON.stringify([
      [tool?.id, tool?.type, tool?.spec?.effect, tool?.spec?.inputSchema, tool?.file?.hash, tool?.connection],
      written,
      asks.map(({ rule, name, message, quorum, onExpiry }) => [rule, name, message, quorum, onExpiry]),
      [state, [...record.groups].sort(), actorId, subjectId, tenantId],
    ]),
  );
}

/** How long the call may wait at most by what asks, in milliseconds. */
export function approvalWaitMs(asks: readonly ApprovalAsk[], judges: readonly Evaluator[]): number {
  const isPlain = asks.every(({ rule }) => rule !== 'rule');
  const times = isPlain
    ? judges.map(({ configuration: { policy } }) => policy.approvalMs)
    : asks.map(({ expiresMs }) => expiresMs);
  return Math.min(...times);
}
