import { normaliseGroups, requestLog } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse } from '@sluice/contracts';
import type { Dead, HandlerContext, Outgoing } from '@sluice/bus';
import { endOfDead } from '@sluice/decisions';
import { boundedLabel } from './metrics.js';
import type { Runtime } from './runtime.js';
import { isSecurityFault, reportSecurityEvent } from './security-events.js';

type Ending = Pick<Runtime, 'clock' | 'log' | 'metrics' | 'configurations'>;

/** The one end of a run as the message to publish; its log line and metrics follow once it is on the log. */
export function endRun(
  response: AgentResponse,
  asked: Pick<AgentRequest, 'group' | 'state'>,
  context: HandlerContext,
  runtime: Ending,
): Outgoing {
  context.afterCommit(() => {
    runtime.metrics.runsEnded.inc({ outcome: response.error?.code ?? 'answer' });
    if (response.run !== null) {
      const taken = Math.max(0, response.endedAt - response.run.startedAt) / 1_000;
      runtime.metrics.runDuration.observe({ kind: response.error === null ? 'answer' : 'error' }, taken);
      const known = runtime.configurations.current().evaluator.rules.knownStates;
      const seconds = Math.max(0, response.endedAt - response.run.stateEnteredAt) / 1_000;
      runtime.metrics.workflowDuration.observe({ state: boundedLabel(response.state, known) }, seconds);
    }
    const groups = normaliseGroups(asked.group);
    runtime.log.info(requestLog(response.requestId, response.run, { groups, state: response.state }, response.endedAt));
  });
  return { topic: topics.responses, key: response.sessionId, record: response };
}

/**
 * What goes out beside a dead letter: if the record was on the loop and its session can be read, the end of its run (DESIGN, idea 2).
 * A record that is not its run’s own ends nothing, else whoever can write one could end another’s run.
 */
export function endDeadRun(dead: Dead, context: HandlerContext, runtime: Ending): readonly Outgoing[] {
  context.afterCommit(() => {
    runtime.metrics.deadLetters.inc({ topic: dead.topic, code: dead.code });
    const { topic, partition, offset, code, reason, attempts } = dead;
    if (isSecurityFault(code)) return reportSecurityEvent(dead, code, runtime);
    runtime.log.error({ topic, partition, offset, code, reason, attempts }, 'a record was put among the dead letters');
  });
  if (isSecurityFault(dead.code)) return [];
  const end = endOfDead(dead, runtime.clock.now());
  return end === null ? [] : [endRun(end.response, end.asked, context, runtime)];
}
