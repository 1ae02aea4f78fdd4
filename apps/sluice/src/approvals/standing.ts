import { randomUUID } from 'node:crypto';
import {
  clockSkewMs,
  isJsonText,
  isStandingRejection,
  localPrincipal,
  printable,
  printableIn,
  standingRejections,
} from '@sluice/core';
import { make, topics } from '@sluice/contracts';
import type { StandingApproval } from '@sluice/contracts';
import { authenticatorOf, ownHeaders, ownToken } from '@sluice/host';
import { printJson, quietFor } from '../json-answer.js';
import type { CommandContext } from '../commands/command-context.js';
import { configurationNow } from './approval-log.js';
import type { ApprovalLog } from './approval-log.js';

/** How long an executor may need before the command says that none has taken it yet, in milliseconds. */
const patienceMs = 10_000;

/** What `give` takes, as it was written. */
interface GivenWords {
  readonly tool: string | undefined;
  readonly session: string | undefined;
  readonly user: string | undefined;
  readonly until: string | undefined;
  readonly bounds: string | undefined;
  readonly calls: string | undefined;
}

/** The record of a standing approval that is given; throws where a word cannot be read. */
export function givenBy(
  { tool, session, user, until, bounds = '{}', calls = '100' }: GivenWords,
  now: number,
): Pick<StandingApproval, 'tool' | 'sessionId' | 'user' | 'until' | 'bounds' | 'calls'> {
  if (tool === undefined) throw new Error('Name the tool with --tool.');
  if (session === undefined && user === undefined)
    throw new Error('Say for whom: --user user:NAME, --session ID where no identity is configured, or both.');
  if (!isJsonText(bounds)) throw new Error('--bounds must be JSON, such as {"amount": {"maximum": 100}}.');
  if (!/^[1-9]\d{0,3}$/.test(calls)) throw new Error('--calls must be a number of calls, 1 to 1000.');
  return { tool, sessionId: session ?? '', user: user ?? '', until: timeIn(until, now), bounds, calls: Number(calls) };
}

/** `18:00` is the next such time of this machine; `2h` is from now on; else a time as ISO 8601 has it. */
export function timeIn(text: string | undefined, now: number): number {
  const clock = /^(\d{1,2}):(\d{2})$/.exec(text ?? '');
  if (clock !== null) {
    const at = new Date(now);
    at.setHours(Number(clock[1]), Number(clock[2]), 0, 0);
    if (at.getTime() <= now) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  const span = /^(\d{1,4})([mhd])$/.exec(text ?? '');
  if (span !== null)
    return now + Number(span[1]) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[span[2] as 'm' | 'h' | 'd'];
  const at = Date.parse(text ?? '');
  if (Number.isNaN(at))
    throw new Error('Say until when with --until: 18:00, 2h, or a time such as 2026-12-01T18:00:00Z.');
  return at;
}

/** Those in force and those that ended within a day. */
export async function listStanding(log: ApprovalLog, json: boolean, context: CommandContext): Promise<number> {
  const { write, print, paint } = context;
  if (log.standing === null) throw new Error('Standing approvals stand in the ledger. Set DATABASE_URL.');
  const tenant = await tenantOf(log, context);
  const all = await log.standing.of(tenant);
  const used = await log.standing.used(tenant, all);
  if (!json && all.length === 0) write('There is no standing approval.\n');
  for (const [n, one] of all.entries()) {
    const calls = used[n] ?? 0;
    if (json) {
      print(`${JSON.stringify(asJson(one, calls))}\n`);
      continue;
    }
    const { id, tool, bounds, session, user, until, calls: most, givenBy: by, revoked } = printableIn(one);
    const whose = [user, session === '' ? '' : `the session ${session}`].filter((one) => one !== '').join(' in ');
    write(`${paint.strong(id)}  ${paint.tool(tool)} ${bounds === null ? '' : JSON.stringify(bounds)}\n`);
    const end = revoked === null ? `until ${time(until)}` : `revoked by ${revoked.by} at ${time(revoked.at)}`;
    write(paint.dim(`   calls of ${whose}, ${end}, ${calls} of ${most} used, given by ${by}\n`));
  }
  return 0;
}

/** Writes what an approver says of calls to come, and says whether it was taken. */
export async function decideStanding(
  said: Pick<StandingApproval, 'action' | 'decidedBy' | 'reason'> & Partial<StandingApproval>,
  log: ApprovalLog,
  json: boolean,
  surroundings: CommandContext,
): Promise<number> {
  const { environment, write, paint } = quietFor(json, surroundings);
  const decidedAt = Date.now();
  const standingId = said.standingId ?? `s-${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  const standing = make.standingApproval({ ...said, standingId, decidedAt });
  const identity = (await configurationNow(log))?.identity;
  if (said.action === 'give' && standing.user === '' && identity !== undefined && identity.provider !== 'none')
    throw new Error('An identity is configured, so a session can have calls of several users. Name one with --user.');
  const written = { topic: topics.approvals, record: make.approval({ standing }) } as const;
  const headers = await ownHeaders(written, environment);
  await log.bus.publish([{ ...written, key: standingId, headers }]);
  const outcome = await outcomeOf(standing, decidedAt - clockSkewMs, log);
  const answer = (status: string, reason: string | null): void => {
    if (json) printJson(surroundings, { standing_id: standingId, status, reason });
  };
  if (outcome === null) {
    answer('pending', null);
    write(`${standingId} is on the log. No executor has taken it yet; one does when it runs.\n`);
    return 0;
  }
  if (outcome.notTaken === null) {
    answer('taken', null);
    write(`${paint.good('✓')} ${standingId}: ${said.action === 'give' ? 'it holds' : 'it holds no longer'}.\n`);
    return 0;
  }
  const why = isStandingRejection(outcome.notTaken)
    ? standingRejections[outcome.notTaken]
    : printable(outcome.notTaken);
  answer('refused', why);
  write(`${paint.bad('✗')} ${standingId}: it does not count. ${why}\n`);
  return 1;
}

async function outcomeOf(
  { standingId, action, decidedAt }: StandingApproval,
  fromTime: number,
  { bus }: ApprovalLog,
): Promise<StandingApproval | null> {
  const options = { from: { time: fromTime }, follow: true, signal: AbortSignal.timeout(patienceMs) };
  for await (const { record } of bus.read([topics.approvals], options)) {
    const { standing } = record;
    if (standing?.standingId !== standingId || standing.at === null) continue;
    if (standing.action === action && standing.decidedAt === decidedAt) return standing;
  }
  return null;
}

/** Whose standing approvals are shown: the tenant of the credential in SLUICE_TOKEN, where there is an identity. */
async function tenantOf(log: ApprovalLog, { environment }: CommandContext): Promise<string> {
  const identity = (await configurationNow(log))?.identity;
  if (identity === undefined || identity.provider === 'none' || log.documents === null) return localPrincipal.tenantId;
  const token = ownToken(environment);
  if (token === undefined)
    throw new Error('SLUICE_TOKEN is not set. It must hold your credential, since there is an identity.');
  const authenticator = authenticatorOf({ environment, documents: log.documents });
  const sender = await authenticator.authenticate(identity, `Bearer ${token}`, Date.now());
  if (!sender.ok) throw new Error(`${sender.message} SLUICE_TOKEN holds it.`);
  return sender.principal.tenantId;
}

function asJson(one: Awaited<ReturnType<NonNullable<ApprovalLog['standing']>['of']>>[number], used: number): object {
  const { id, tool, bounds, session, user, until, calls, givenBy: by, reason, givenAt, revoked } = one;
  return {
    ...{ standing_id: id, tool, bounds, session_id: session, user, until, calls, used },
    ...{ given_by: by, reason, given_at: givenAt, revoked_by: revoked?.by ?? null, revoked_at: revoked?.at ?? null },
  };
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
