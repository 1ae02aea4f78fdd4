import { Fault, isSecurityFault, localPrincipal, normaliseGroups, requestLog } from '@sluice/core';
import type { Tenant } from '@sluice/core';
import { placeOf, topics } from '@sluice/contracts';
import type { AgentRequest, AgentResponse, Run } from '@sluice/contracts';
import type { Dead, HandlerContext, Outgoing } from '@sluice/bus';
import { endOfDead, isAgentRunId, tenantOf } from '@sluice/decisions';
import { claimEnd, keepQuarantined } from './end-once.js';
import { AgentRunClaims } from './agent-runs/claims.js';
import { ApprovalClaims } from './approvals/claims.js';
import { approvalAt } from './approvals/open.js';
import { boundedLabel } from './metrics.js';
import { redrivenBefore } from './redrive/take.js';
import { runOfEnd, runOfRecord, senderOf } from './run-names.js';
import type { NamedRun } from './run-names.js';
import type { Runtime } from './runtime.js';
import { reportSecurityEvent } from './security-events.js';
import { takeRequest } from './take-once.js';

type Ending = Pick<Runtime, 'bus' | 'clock' | 'log' | 'metrics' | 'configurations' | 'ledger'>;

/** Which record ends a run: its place on the log, the attempt of the run that it is of, and for which tenant that is. */
export interface EndedBy {
  readonly place: string;
  readonly attempt: string | null;
  readonly tenant: Tenant;
}

/** The record that is being handled, in the attempt that it was re-driven as, else in its run’s own. */
export function endedBy(
  message: Parameters<typeof placeOf>[0],
  run: Pick<Run, 'redrive' | 'principal'> | null,
  redriven: { readonly deadLetter: string } | null = null,
): EndedBy {
  const attempt = redriven?.deadLetter ?? run?.redrive ?? null;
  return { place: placeOf(message), attempt, tenant: run?.principal?.tenantId ?? null };
}

/**
 * The one end of a run as the message to publish; its log line and metrics follow once it is on the log. Nothing goes out if another record
 * has ended the run: one that came back after the run’s time is late, and no attack. Of an agent’s run the ledger says that it ended so: a
 * turn waits for that.
 */
export async function endRun(
  response: AgentResponse,
  asked: Pick<AgentRequest, 'group' | 'state'>,
  { place, attempt, tenant }: EndedBy,
  context: HandlerContext,
  runtime: Ending,
): Promise<readonly Outgoing[]> {
  const { requestId, sessionId } = response;
  if (!(await claimEnd({ requestId, tenant, attempt }, place, runtime))) {
    context.afterCommit(() => runtime.log.info({ request_id: requestId, session_id: sessionId, place }, lateEnd));
    return [];
  }
  return published(response, asked, context, runtime);
}

const lateEnd = 'the run had ended before this record could end it, so the record was dropped';

async function published(
  response: AgentResponse,
  asked: Pick<AgentRequest, 'group' | 'state'>,
  context: HandlerContext,
  runtime: Ending,
): Promise<readonly Outgoing[]> {
  if (isAgentRunId(response.requestId)) await new AgentRunClaims(runtime).vouch(response);
  context.afterCommit(telling(response, normaliseGroups(asked.group), runtime));
  return [{ topic: topics.responses, key: response.sessionId, record: response }];
}

/** Says and counts the end. The response and what was asked, which may be long, are not kept until then; its run is. */
function telling(
  { requestId, run, state, error, endedAt }: AgentResponse,
  groups: readonly string[],
  { metrics, configurations, log }: Ending,
): () => void {
  return () => {
    metrics.runsEnded.inc({ outcome: error?.code ?? 'answer' });
    if (run !== null) {
      const taken = Math.max(0, endedAt - run.startedAt) / 1_000;
      metrics.runDuration.observe({ kind: error === null ? 'answer' : 'error' }, taken);
      const known = configurations.current().evaluator.rules.knownStates;
      const seconds = Math.max(0, endedAt - run.stateEnteredAt) / 1_000;
      metrics.workflowDuration.observe({ state: boundedLabel(state, known) }, seconds);
    }
    log.info(requestLog(requestId, run, { groups, state }, endedAt));
  };
}

/** Says and counts that a record was put among the dead letters, once it is there. */
export function tellOfDead(dead: Dead, runtime: Pick<Ending, 'log' | 'metrics'>): void {
  runtime.metrics.deadLetters.inc({ topic: dead.topic, code: dead.code });
  const { topic, partition, offset, code, reason, attempts } = dead;
  if (isSecurityFault(code)) return reportSecurityEvent(dead, code, runtime);
  runtime.log.error({ topic, partition, offset, code, reason, attempts }, 'a record was put among the dead letters');
}

/**
 * What goes out beside a dead letter: if the record was on the loop and its session can be read, the end of its run.
 * A forged record ends nothing at once, or it could end another’s run. It is remembered: if no
 * honest record takes its turn until the run’s time is up, the run ends with that (overdue turns, in the filter).
 */
export async function endDeadRun(dead: Dead, context: HandlerContext, runtime: Ending): Promise<readonly Outgoing[]> {
  if (isSecurityFault(dead.code)) {
    await rememberQuarantined(dead, runtime);
    return [];
  }
  const tenant = await tenantOfDead(dead, runtime);
  const end = endOfDead(dead, tenant, runtime.clock.now());
  if (end === null) return [];
  const { response, asked } = end;
  if (!(await isItsRuns(dead, { requestId: response.requestId, tenant }, runtime))) return [];
  try {
    const redriven = dead.message === null ? null : await redrivenBefore(dead.message, runtime);
    return await endRun(response, asked, { ...endedBy(dead, response.run, redriven), tenant }, context, runtime);
  } catch (error) {
    if (!isLedgerAway(error)) throw error;
    // The caller would wait in vain for the ledger to come back.
    return published(response, asked, context, runtime);
  }
}

/**
 * The tenant of the run that ends with the record: a request’s by its credential, if that was verified before the request became a dead letter;
 * a parked turn’s by what was asked of its approvers.
 */
async function tenantOfDead({ message }: Dead, runtime: Ending): Promise<Tenant> {
  const said = message === null ? null : tenantOf(message);
  if (said !== null) return said;
  if (message?.topic === topics.approvals) {
    const asked = await askedIn(message.record.outcome?.approvalId ?? '', runtime);
    if (asked !== null) return asked;
  }
  const sender = message === null ? undefined : senderOf(message);
  if (sender !== undefined) return sender;
  const { identity } = runtime.configurations.current().configuration;
  return identity.provider === 'none' ? localPrincipal.tenantId : null;
}

async function askedIn(approvalId: string, runtime: Ending): Promise<Tenant> {
  try {
    const place = await new ApprovalClaims(runtime).decisionOn(approvalId);
    return place == null ? null : ((await approvalAt(runtime.bus, place))?.tenantId ?? null) || null;
  } catch (error) {
    // Without the ledger or the log it is not known.
    if (error instanceof Fault && error.retryable) return null;
    throw error;
  }
}

async function rememberQuarantined({ message, code, ...dead }: Dead, runtime: Ending): Promise<void> {
  // A copy of a record that was claimed has no run to end.
  if (message === null || code === 'replayed' || message.topic === topics.progress) return;
  if (!('iteration' in message.record)) return;
  const { topic, record } = message;
  try {
    const { iteration } = record;
    await keepQuarantined({ topic, iteration, ...runOfRecord(record) }, placeOf(dead), runtime);
  } catch (error) {
    // The run then ends at its deadline all the same, and only does not say why.
    if (!isLedgerAway(error)) throw error;
  }
}

function isLedgerAway(error: unknown): boolean {
  return error instanceof Fault && error.code === 'ledger_unreachable';
}

/**
 * Whether the record may end the run that it names. A request names any run it likes, so a dead one takes its request_id like a good one,
 * and ends nothing if another has it; the end of a sub-agent’s run ends the one that waits for it only if a service ended it so and the turn did not go on with another end. If the ledger does not answer, the end goes out, as the caller would wait for it in vain.
 */
async function isItsRuns(dead: Dead, run: NamedRun, runtime: Ending): Promise<boolean> {
  const redriven = async () => (dead.message === null ? null : redrivenBefore(dead.message, runtime));
  const ownerOf = async () => (await redriven())?.owner ?? placeOf(dead);
  if (dead.message?.topic === topics.responses) {
    const claims = new AgentRunClaims(runtime);
    const { record } = dead.message;
    return (await claims.isVouched(record)) && claims.goesOn(runOfEnd(record), await ownerOf());
  }
  if (dead.topic !== topics.requests) return true;
  try {
    const owner = await ownerOf();
    return (await takeRequest(run, owner, runtime)).owner === owner;
  } catch (error) {
    // No request begins a sub-agent’s run, and a turn waits for its end: a caller’s request must not be that.
    if (isLedgerAway(error)) return !isAgentRunId(run.requestId);
    throw error;
  }
}
