import { normaliseGroups, normaliseState, requestLog } from '@sluice/core';
import type { RunErrorCode } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Run } from '@sluice/contracts';
import type { Dead, HandlerContext, Incoming, Outgoing } from '@sluice/bus';
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

/** An AgentResponse of kind error for a request that has begun or not. */
export function errorResponse(
  ids: { readonly requestId: string; readonly sessionId: string },
  error: { readonly code: RunErrorCode; readonly message: string },
  about: { readonly request: AgentRequest | null; readonly run: Run | null; readonly configVersion: string },
  endedAt: number,
): AgentResponse {
  return {
    ...ids,
    kind: 'error',
    answer: null,
    error,
    question: about.request?.question ?? '',
    state: normaliseState(about.request?.state),
    history: about.request?.history ?? [],
    run: about.run,
    iterations: about.run?.iteration ?? 0,
    configVersion: about.configVersion,
    endedAt,
  };
}

/** The ids of an AgentRequest as it lies on the log: its own, else derived from its place there. */
export function requestIds(
  message: Pick<Incoming, 'topic' | 'partition' | 'offset' | 'key'>,
  request: { requestId: string | null; sessionId: string | null },
) {
  const requestId = request.requestId || `${message.topic}-${message.partition}-${message.offset}`;
  return { requestId, sessionId: request.sessionId || message.key || requestId };
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
  const about = whatIsKnown(dead);
  if (about === null) return [];
  const error = { code: runErrorOf(dead), message: messageOf(dead) };
  const response = errorResponse(about, error, about, runtime.clock.now());
  return [endRun(response, about.request ?? { group: null, state: null }, context, runtime)];
}

interface Known {
  readonly requestId: string;
  readonly sessionId: string;
  readonly request: AgentRequest | null;
  readonly run: Run | null;
  readonly configVersion: string;
}

function whatIsKnown(dead: Dead): Known | null {
  if (dead.message === null) {
    const read = dead.topic === topics.requests ? readIds(dead.value) : { requestId: null, sessionId: null };
    const ids = requestIds(dead, read);
    const readable = dead.key !== '' || read.sessionId !== null || read.requestId !== null;
    return dead.topic === topics.requests && readable ? { ...ids, request: null, run: null, configVersion: '' } : null;
  }
  const { message } = dead;
  switch (message.topic) {
    case 'agent.requests':
      return { ...requestIds(message, message.record), request: message.record, run: null, configVersion: '' };
    case 'agent.toolsets':
    case 'agent.tool-calls': {
      const { requestId, sessionId, request, run, configVersion } = message.record;
      return { requestId, sessionId, request, run, configVersion };
    }
    case 'agent.steps': {
      const { requestId, sessionId, next, run, configVersion } = message.record;
      return { requestId, sessionId, request: next, run, configVersion };
    }
    case 'agent.approvals': {
      // Only the outcome that was taken is on the loop: what asks or decides leaves the turn where it waits.
      const { outcome } = message.record;
      if (outcome === null || outcome.notTaken !== null) return null;
      const { requestId, sessionId } = outcome;
      return { requestId, sessionId, request: null, run: null, configVersion: '' };
    }
    case 'agent.responses':
    case 'agent.progress':
    case 'agent.audit':
    case 'agent.dead-letters':
    case 'agent.config':
      return null;
  }
}

/** The ids of a payload that has not the topic's shape but is JSON all the same. */
function readIds(value: Uint8Array): { requestId: string | null; sessionId: string | null } {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(Buffer.from(value).toString('utf8'));
  } catch {
    // Not JSON: then there is nothing to read, and the record's key has to do.
  }
  const member = (name: string): string | null => {
    const found = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
    return typeof found === 'string' && found !== '' ? found : null;
  };
  return { requestId: member('request_id'), sessionId: member('session_id') };
}

function runErrorOf(dead: Dead): RunErrorCode {
  if (dead.topic === topics.requests && (dead.code === 'undecodable' || dead.code === 'invalid_request'))
    return 'invalid_request';
  if (dead.code === 'output_too_large') return 'size_exceeded';
  return dead.code === 'model_refused' || dead.code === 'model_unreachable' ? 'model_failed' : 'dead_lettered';
}

/** What was undecodable or refused is told; what failed unforeseen is for operators alone. */
function messageOf(dead: Dead): string {
  if (dead.code === 'unexpected')
    return 'A record of this run could not be processed. It is kept among the dead letters.';
  return dead.reason;
}
