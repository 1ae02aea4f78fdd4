import { agentName, defaultAgent, normaliseGroups, requestLogLine } from '@sluice/core';
import type { SignerRole, Tenant } from '@sluice/core';
import { positionOf, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Run } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { isAgentRunId } from '../agent-runs.js';
import { AgentRunClaims } from '../claims/agent-runs.js';
import { wasHandled } from '../claims/came-again.js';
import { loadedFor } from '../configuration/configurations.js';
import { claimEnd, keepPublished } from '../claims/end-once.js';
import { remember } from '../memory.js';
import type { RunParts } from '../parts.js';
import { boundedLabel } from '../reporting.js';
import { enderOf, signEnd } from '../signing/ends.js';
import { withFirstNames } from '../tool-list.js';

export type Ending = Pick<
  RunParts,
  'bus' | 'clock' | 'log' | 'metrics' | 'configurations' | 'ledger' | 'documents' | 'signatures'
>;

/** What of its request the end of a run goes by. */
type AskedOfRun = Pick<AgentRequest, 'group' | 'state'> & Partial<Pick<AgentRequest, 'call' | 'agent'>>;

/**
 * The record that ends a run: its place on the log, the run’s attempt, the run’s tenant, and which service ends it by
 * that.
 */
export interface EndedBy {
  readonly message: Pick<Incoming, 'topic' | 'partition' | 'offset' | 'timestamp'>;
  readonly attempt: string | null;
  readonly tenant: Tenant;
  readonly signer: SignerRole;
}

/** The record that is being handled, in the attempt that it was re-driven as, else in its run’s own. */
export function endedBy(
  { topic, partition, offset, timestamp }: EndedBy['message'],
  run: Pick<Run, 'redrive' | 'principal'> | null,
  redriven: { readonly deadLetter: string } | null = null,
): EndedBy {
  const attempt = redriven?.deadLetter ?? run?.redrive ?? null;
  const message = { topic, partition, offset, timestamp };
  return { message, attempt, tenant: run?.principal?.tenantId ?? null, signer: enderOf(topic) };
}

/**
 * The one end of a run as the message to publish; its log line and metrics follow once it is on the log. Nothing goes
 * out if another record has ended the run: one that came back after the run’s time is late, and no attack. Nor does
 * it if this record ended the run before. Of an agent’s run the ledger says that it ended so: a turn waits for that.
 */
export function endRun(
  response: AgentResponse,
  asked: AskedOfRun,
  by: EndedBy,
  context: HandlerContext,
  runtime: Ending,
): Promise<readonly Outgoing[]> {
  return endRunWith(response, () => Promise.resolve(response), asked, by, context, runtime);
}

/** The same of a response that is made while the end is claimed. */
export async function endRunWith(
  { requestId, sessionId }: Pick<AgentResponse, 'requestId' | 'sessionId'>,
  respond: () => Promise<AgentResponse>,
  asked: AskedOfRun,
  { message, attempt, tenant, signer }: EndedBy,
  context: HandlerContext,
  runtime: Ending,
): Promise<readonly Outgoing[]> {
  const [end, place] = [{ requestId, tenant, attempt }, positionOf(message)];
  const [{ isOwn, isAgain }, response] = await Promise.all([claimEnd(end, place, runtime), respond()]);
  if (!isOwn) {
    context.afterCommit(() => runtime.log.info({ request_id: requestId, session_id: sessionId, place }, lateEnd));
    return [];
  }
  const led = ({ topic }: Incoming): boolean => topic === topics.responses;
  if (isAgain && (await wasHandled({ message, run: end, attempt, sessions: [sessionId], led }, context, runtime)))
    return [];
  // A call’s end stands right behind its request on the log, so it is soon found there.
  if (message.topic !== topics.calls) context.afterCommit(() => void keepPublished(end, place, runtime));
  return published(response, asked, signer, context, runtime);
}

const lateEnd = 'the run had ended before this record could end it, so the record was dropped';

export async function published(
  response: AgentResponse,
  asked: AskedOfRun,
  signer: SignerRole,
  context: HandlerContext,
  runtime: Ending,
): Promise<readonly Outgoing[]> {
  const { call = null, agent = null } = asked;
  const { configuration } = loadedFor(runtime.configurations.current(), { call, agent });
  await remember(response, asked, configuration, runtime);
  if (isAgentRunId(response.requestId)) await new AgentRunClaims(runtime).vouch(response);
  context.afterCommit(
    telling(response, normaliseGroups(asked.group), call === null ? agentName({ agent }) : null, runtime),
  );
  const record = await signEnd(response, signer, runtime);
  return [{ topic: topics.responses, key: response.sessionId, record }];
}

/** Says and counts the end. The response and what was asked, which may be long, are not kept until then; its run is. */
function telling(
  { requestId, run, state, error, endedAt }: AgentResponse,
  groups: readonly string[],
  agent: string | null,
  { metrics, configurations, log }: Ending,
): () => void {
  return () => {
    metrics.runsEnded.inc({ outcome: error?.code ?? 'answer' });
    const kind = error === null ? 'answer' : 'error';
    if (agent !== null) {
      const { agents = {} } = configurations.current().configuration;
      metrics.agentRunsEnded.inc({ agent: boundedLabel(agent, new Set([defaultAgent, ...Object.keys(agents)])), kind });
    }
    if (run !== null) {
      const taken = Math.max(0, endedAt - run.startedAt) / 1_000;
      metrics.runDuration.observe({ kind }, taken);
      const known = configurations.current().evaluator.rules.knownStates;
      const seconds = Math.max(0, endedAt - run.stateEnteredAt) / 1_000;
      metrics.workflowDuration.observe({ state: boundedLabel(state, known) }, seconds);
    }
    const named = run === null ? null : withFirstNames(run, configurations);
    log.info(requestLogLine(requestId, named, { groups, state }, endedAt));
  };
}
