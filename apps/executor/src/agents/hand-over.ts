import type { BoundTool, ToolInvocation, Verdict } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import type { ToolCall } from '@sluice/contracts';
import { agentBeginning, agentRunIdOf, mayHandOver, questionOf } from '@sluice/decisions';
import type { Handing } from '@sluice/decisions';
import { AgentRunClaims, keepAttempt, signContinuation } from '@sluice/service';
import type { Loaded, Runtime } from '@sluice/service';
import type { Step } from '@sluice/core';

type Refusal = Verdict & { ok: false };

/** Whether a call of an agent can become a run of its own; null for any other tool. `handing` is what is to be begun, if it can. */
export async function judgeHandOver(
  tool: BoundTool,
  invocation: ToolInvocation,
  record: ToolCall,
  [granting, inForce]: readonly [Loaded, Loaded],
  runtime: Runtime,
): Promise<{ readonly verdict: Refusal; readonly handing: Omit<Handing, 'startedAt'> | null } | null> {
  if (granting.evaluator.byId(tool.id)?.agent === undefined) return null;
  const verdict = mayHandOver(tool.id, record, [granting.evaluator, inForce.evaluator]);
  if (!verdict.ok) return { verdict, handing: null };
  const { callKey, args } = invocation;
  const agentRunId = agentRunIdOf(callKey);
  if (!(await new AgentRunClaims(runtime).take(agentRunId, callKey))) {
    const message = `The agent ${tool.id} cannot begin: its request_id was taken by somebody else. Go on without it.`;
    return { verdict: { ok: false, code: 'execution', reason: 'agent_failed', message }, handing: null };
  }
  const message = 'The call runs as an agent of its own.';
  const pending: Refusal = { ok: false, code: 'execution', reason: 'agent_pending', message };
  return { verdict: pending, handing: { agentRunId, question: questionOf(args) } };
}

/**
 * Parks a turn before the call at `index` and begins the agent’s run in its place, in one act: the ToolCall stays where it is on the log,
 * what is done of its turn travels with the run, and so does the run’s token. The filter takes the beginning as it takes any turn’s end.
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
  const { partition, offset } = message;
  await new AgentRunClaims(runtime).park(handing.agentRunId, callKey, { partition, offset, index });
  await keepAttempt(waitForAgent(handing.agentRunId, handing.startedAt), message.record.run, runtime);
  context.afterCommit(() => {
    const { requestId, tool } = beginning.run.parent ?? {};
    runtime.log.info({ request_id: requestId, tool, agent_request_id: handing.agentRunId }, 'a call runs as an agent');
  });
  return [{ topic: topics.steps, key: beginning.sessionId, record: await signContinuation(beginning, runtime) }];
}

/** Names the one time that a turn was parked for the agent’s run. */
export function waitForAgent(agentRunId: string, startedAt: number): string {
  return `${agentRunId}/${startedAt}`;
}
