import { boundsOfTool } from '@sluice/configuration';
import { entriesOfDecider, isJsonText, judgeStanding, localPrincipal, parseExactJson } from '@sluice/core';
import type { Configuration, Decider, GivenStanding, StandingRejection } from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { StandingApproval } from '@sluice/contracts';
import { trustedTimeOf } from '@sluice/bus';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { StandingApprovals } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** Characters of bounds and of a reason: all of a tenant are read at once. */
const longestBounds = 2_000;
const longestReason = 500;

/**
 * Takes what an approver says of calls to come: writes it into the ledger, where calls find it, and says on the log
 * whether it counts. What says already whether it counts is an executor’s own word, or a forger’s, and changes nothing.
 */
export async function takeStanding(
  written: StandingApproval,
  decider: Decider | null,
  message: Incoming<'agent.approvals'>,
  context: HandlerContext,
  runtime: Runtime,
): Promise<readonly Outgoing[]> {
  const { clock, configurations, log, metrics } = runtime;
  const { configuration } = configurations.current();
  const { version } = configuration;
  const tenantId = decider?.tenantId ?? localPrincipal.tenantId;
  const decidedBy = decider?.actorId ?? written.decidedBy;
  const notTaken = await judged(written, decider, tenantId, trustedTimeOf(message), configuration, runtime);
  context.afterCommit(() => {
    const about = { standing_id: written.standingId, action: written.action, decided_by: decidedBy };
    if (notTaken !== null) log.warn({ ...about, reason: notTaken }, 'a standing approval does not count');
    else {
      metrics.standingApprovals.inc({ action: written.action });
      log.info({ ...about, tool: written.tool }, 'a standing approval was taken');
    }
  });
  const standing = { ...written, decidedBy, tenantId, notTaken, at: clock.now(), configVersion: version };
  return [{ topic: topics.approvals, key: message.key, record: make.approval({ standing }) }];
}

async function judged(
  written: StandingApproval,
  decider: Decider | null,
  tenantId: string,
  at: number,
  configuration: Configuration,
  runtime: Runtime,
): Promise<StandingRejection | null> {
  const approvals = new StandingApprovals(runtime);
  const { standingId, action, reason } = written;
  const given = action === 'give' ? givenIn(written, configuration) : null;
  const refusal = judgeStanding(given, decider, at, configuration);
  const by = decider?.actorId ?? '';
  if (action !== 'revoke') {
    if (refusal !== null || given === null) return refusal ?? 'invalid_standing';
    return approvals.give(tenantId, {
      ...given,
      givenBy: by,
      ...(decider?.subjectId == null ? {} : { givenFor: decider.subjectId }),
      givenAs: decider === null ? [] : entriesOfDecider(decider, configuration.policy),
      reason,
      givenAt: at,
      revoked: null,
    });
  }
  if (refusal !== 'invalid_standing') return refusal ?? 'invalid_standing';
  return approvals.revoke(tenantId, standingId, { by, at, reason: reason.slice(0, longestReason) });
}

/** What is given, with the tool’s id and its bounds as they are judged by; null where it cannot be read. */
function givenIn(
  { standingId: id, tool: name, bounds: written, sessionId: session, user, until, calls, reason }: StandingApproval,
  { tools, lists }: Configuration,
): GivenStanding | null {
  // The registry takes no schema whose default is the text of an empty object, so it is the empty text.
  const text = written === '' ? '{}' : written;
  const tool = tools.find((one) => one.key === name || one.id === name);
  if (tool === undefined || text.length > longestBounds || reason.length > longestReason || !isJsonText(text))
    return null;
  const bounds = boundsOfTool(parseExactJson(text), tool, lists);
  if (bounds !== null && 'problem' in bounds && typeof bounds.problem === 'string') return null;
  return { id, tool: tool.id, bounds: bounds as GivenStanding['bounds'], session, user, until, calls };
}
