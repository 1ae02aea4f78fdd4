import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { agentBeginning, AgentRunClaims, claimedName, keepAttempt, runOfRecord, signContinuation } from '@sluice/run';
import type { Handing, Loaded, NamedRun } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import type { Step } from '@sluice/core';
import { passContent } from './pass-content.js';

/**
 * Parks a turn before the call at `index` and begins the agent’s run in its place, in one act: the ToolCall stays
 * where it is on the log, what is done of its turn travels with the run, and so does the run’s token. The filter
 * takes the beginning as it takes any turn’s end.
 */
export async function handOver(
  message: Incoming<'agent.tool-calls'>,
  index: number,
  callKey: string,
  handing: Handing,
  done: readonly Step[],
  [granting, inForce]: readonly [Loaded, Loaded],
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const judges = { granting: granting.evaluator, inForce: inForce.evaluator };
  const beginning = agentBeginning(message, index, handing, done, judges);
  await passContent(message.record, beginning, runtime);
  const { partition, offset } = message;
  const run = runOfRecord(beginning);
  await new AgentRunClaims(runtime).park(run, callKey, { partition, offset, index });
  await keepAttempt(await waitForAgent(run, handing.startedAt, runtime), message.record.run, runtime);
  context.afterCommit(() => {
    const { requestId, tool } = beginning.run.parent ?? {};
    runtime.log.info({ request_id: requestId, tool, agent_request_id: handing.agentRunId }, 'a call runs as an agent');
  });
  return [{ topic: topics.steps, key: beginning.sessionId, record: await signContinuation(beginning, runtime) }];
}

/** Names the one time that a turn was parked for the agent’s run. */
export async function waitForAgent(
  run: NamedRun,
  startedAt: number,
  runtime: Pick<Runtime, 'ledger' | 'clock'>,
): Promise<string> {
  return `${await claimedName(run, runtime)}/${startedAt}`;
}
