import { Fault, isSecurityFault, localPrincipal } from '@sluice/core';
import type { SecurityFault, Tenant } from '@sluice/core';
import { isRequestTopic, positionOf, topics } from '@sluice/contracts';
import type { Dead, HandlerContext, Outgoing } from '@sluice/bus';
import { isAgentRunId } from '../agent-runs.js';
import { approvalAt } from '../approvals/open.js';
import { AgentRunClaims } from '../claims/agent-runs.js';
import { ApprovalClaims } from '../claims/approvals.js';
import { keepQuarantined } from '../claims/end-once.js';
import { runOfEnd, runOfRecord, senderOf } from '../claims/run-names.js';
import type { NamedRun } from '../claims/run-names.js';
import { claimRequest } from '../claims/requests-and-turns.js';
import { tenantOf } from '../ids.js';
import { redrivenBefore } from '../redrive/take.js';
import { enderOf } from '../signing/ends.js';
import { endOfDead } from './end-of-dead.js';
import { endedBy, endRun, published } from './end-run.js';
import type { Ending } from './end-run.js';

/** Says and counts that a record was put among the dead letters, once it is there. */
export function reportDeadLetter(dead: Dead, runtime: Pick<Ending, 'log' | 'metrics'>): void {
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
    return published(response, asked, enderOf(dead.topic), context, runtime);
  }
}

/**
 * The tenant of the run that ends with the record: a request’s by its credential, if that was verified before the
 * request became a dead letter; a parked turn’s by what was asked of its approvers.
 */
async function tenantOfDead({ message }: Dead, runtime: Ending): Promise<Tenant> {
  const said = message === null ? null : tenantOf(message);
  if (said !== null) return said;
  if (message?.topic === topics.approvals) {
    const asked = await tenantOfApproval(message.record.outcome?.approvalId ?? '', runtime);
    if (asked !== null) return asked;
  }
  const sender = message === null ? undefined : senderOf(message);
  if (sender !== undefined) return sender;
  const { identity } = runtime.configurations.current().configuration;
  return identity.provider === 'none' ? localPrincipal.tenantId : null;
}

async function tenantOfApproval(approvalId: string, runtime: Ending): Promise<Tenant> {
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
  if (message === null || code === 'replayed') return;
  if (message.topic === topics.progress || message.topic === topics.discovery) return;
  if (!('iteration' in message.record)) return;
  const { topic, record } = message;
  try {
    const { iteration } = record;
    await keepQuarantined({ topic, iteration, ...runOfRecord(record) }, positionOf(dead), runtime);
  } catch (error) {
    // The run then ends at its deadline all the same, and only does not say why.
    if (!isLedgerAway(error)) throw error;
  }
}

function isLedgerAway(error: unknown): boolean {
  return error instanceof Fault && error.code === 'ledger_unreachable';
}

/**
 * Whether the record may end the run that it names. A request names any run it likes, so a dead one takes its
 * request_id like a good one, and ends nothing if another has it; the end of a sub-agent’s run ends the one that
 * waits for it only if a service ended it so and the turn did not go on with another end. If the ledger does not
 * answer, the end goes out, as the caller would wait for it in vain.
 */
async function isItsRuns(dead: Dead, run: NamedRun, runtime: Ending): Promise<boolean> {
  const redriven = async () => (dead.message === null ? null : redrivenBefore(dead.message, runtime));
  const ownerOf = async () => (await redriven())?.owner ?? positionOf(dead);
  if (dead.message?.topic === topics.responses) {
    const claims = new AgentRunClaims(runtime);
    const { record } = dead.message;
    return (await claims.isVouched(record)) && (await claims.goesOn(runOfEnd(record), await ownerOf())).isOwn;
  }
  if (!isRequestTopic(dead.topic)) return true;
  try {
    const owner = await ownerOf();
    return (await claimRequest(run, owner, runtime)).owner === owner;
  } catch (error) {
    // No request begins a sub-agent’s run, and a turn waits for its end: a caller’s request must not be that.
    if (isLedgerAway(error)) return !isAgentRunId(run.requestId);
    throw error;
  }
}

/** What an operator reads of a forged record, and what is counted. */
function reportSecurityEvent(dead: Dead, code: SecurityFault, { log, metrics }: Pick<Ending, 'log' | 'metrics'>) {
  const { topic, partition, offset, reason, message } = dead;
  const about = message === null ? null : message.record;
  const requestId = about !== null && 'requestId' in about ? about.requestId : null;
  log.error(
    { topic, partition, offset, code, reason, request_id: requestId },
    'a record that is not its run’s own was quarantined; find out who wrote it',
  );
  switch (code) {
    case 'groups_widened':
      return metrics.escalationAttempts.inc();
    case 'state_altered':
      return metrics.invalidTransitions.inc();
    case 'grant_invalid':
    case 'continuation_invalid':
    case 'signature_invalid':
    case 'replayed':
      return;
  }
}
