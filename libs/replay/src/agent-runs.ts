import { agentBegunBy, budgetOf } from '@sluice/core';
import type { AgentRun, Step, ToolExecResult } from '@sluice/core';
import type { FanOut, Run } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { agentRunOf, callIdOf, handedBack } from '@sluice/run';
import type { CallInTurn } from '@sluice/run';
import { NotReplayable } from './outcome.js';
import type { RunRecords } from './run-records.js';

/** Whether the record begins an agent’s run, which the executor decided in the run that calls it. */
export function isAgentBeginning(message: Incoming): boolean {
  return message.topic === 'agent.steps' && agentBegunBy(message.record) !== null;
}

/** What the run of a call of an agent came to, from each end of it that is recorded. */
export function agentEnds(
  { record, call, index, judges }: CallInTurn,
  agentRunId: string,
  run: RunRecords,
  recorded: Step | null,
): readonly AgentEnd[] {
  const { granting, inForce } = judges;
  const agent = granting.byId(call.tool)?.agent;
  const toolCallId = callIdOf(record, call, index);
  const budget = budgetOf(call.tool, granting.configuration.policy, inForce.configuration.policy);
  const resultBytes = Math.min(granting.configuration.limits.resultBytes, budget.resultBytes ?? Infinity);
  const ends = run.returns.flatMap(({ record: end }): readonly AgentEnd[] => {
    if (end.requestId !== agentRunId || end.run === null) return [];
    const back = handedBack(end, agent, resultBytes);
    const hash = recorded?.resultHash == null ? {} : { resultHash: recorded.resultHash };
    const result: ToolExecResult = back.ok
      ? { toolCallId, ok: true, value: back.answer, ...hash }
      : { toolCallId, ok: false, errorCode: 'execution', reason: back.reason, safeMessage: back.message };
    return [{ result, agentRun: agentRunOf(end, end.run, record.run, granting) }];
  });
  if (ends.length > 0) return ends;
  throw new NotReplayable(`It was answered by the run ${agentRunId}, whose end is not among the records.`);
}

interface AgentEnd {
  readonly result: ToolExecResult;
  readonly agentRun: AgentRun | null;
}

/** The runs that calls of the iteration’s turn became, in the order of the calls. */
export function begunIn({ calls, begun }: RunRecords, iteration: number): readonly Incoming<'agent.steps'>[] {
  const turns = new Set(calls.filter(({ record }) => record.iteration === iteration).map(placeIn));
  const ofTurn = begun.filter(({ record: { run } }) => run.parent !== null && turns.has(placeIn(run.parent)));
  return ofTurn.sort((one, other) => (one.record.run.parent?.index ?? 0) - (other.record.run.parent?.index ?? 0));
}

/** Those that began side by side with the call, as their records have it; null where it ran alone. */
export function fanOutOf({ begun }: RunRecords, parent: NonNullable<Run['parent']>): FanOut | null {
  if (parent.fanOut === null) return null;
  const { first } = parent.fanOut;
  const members = new Set(
    begun.flatMap(({ record: { run: one } }) =>
      one.parent !== null && placeIn(one.parent) === placeIn(parent) && one.parent.fanOut?.first === first
        ? one.parent.index
        : [],
    ),
  );
  return { first, size: members.size };
}

function placeIn({ partition, offset }: { readonly partition: number; readonly offset: number }): string {
  return `${partition}/${offset}`;
}
