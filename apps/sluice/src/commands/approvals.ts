import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import {
  claimMemoryMs,
  clockSkewMs,
  isRejectionReason,
  rejectionReasons,
  parseExactJson,
  printable,
  printableIn,
} from '@sluice/core';
import { recordToJson, topics } from '@sluice/contracts';
import type { ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { approvalAt, ApprovalClaims, CountingApprovals, openApprovals } from '@sluice/run';
import type { ApprovalPosition, Counts } from '@sluice/run';
import { openBus, openLedger, ownHeaders, ownToken, requireBelonging, requireLog, systemClock } from '@sluice/host';
import { byBeginning } from '../by-beginning.js';
import { shorten } from '../show/story.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice approvals list [--json]    calls that wait for an approval, the oldest first
sluice approvals show ID          all that is known of one; the beginning of its id is enough, here and below
sluice approvals approve ID [--reason "…"] [--as user:NAME]
sluice approvals refuse ID [--reason "…"] [--as user:NAME]
  Decides, and says whether the decision was taken; exit code 1 if it was not. --as is who decides: your own name unless
  written. Where an identity is configured, the credential in SLUICE_TOKEN says who.`;

/** How long an executor may need to apply a decision before the command says that none has yet, in milliseconds. */
const patienceMs = 10_000;

type Open = { readonly requested: ApprovalRequested; readonly place: ApprovalPosition };
type Log = { readonly bus: Bus; readonly counts: Counts };
type Deciding = { readonly decision: 'approve' | 'refuse'; readonly reason: string; readonly decidedBy: string };

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, reason: { type: 'string' }, as: { type: 'string' } },
  });
  const [action, id, ...more] = positionals;
  if (more.length > 0) throw new Error(`One approval at a time.\n${usage}`);
  const words = id === undefined ? [] : [id];
  const takes = (count: number, ...taken: readonly string[]): void =>
    refuseSurplus({ values, words }, { taken, words: count }, usage);
  switch (action) {
    case 'list':
      takes(0, 'json');
      return withLog(surroundings, (log) => list(log, values.json, surroundings));
    case 'show': {
      takes(1);
      const named = idOf(id);
      return withLog(surroundings, async (log) => show(await find(log, named), log.bus, surroundings));
    }
    case 'approve':
    case 'refuse': {
      takes(1, 'reason', 'as');
      const named = idOf(id);
      const token = ownToken(surroundings.environment);
      const decidedBy = values.as ?? (token === undefined ? `user:${userInfo().username}` : '');
      const deciding = { decision: action, reason: values.reason ?? '', decidedBy } as const;
      return withLog(surroundings, async (log) => decide(await find(log, named), deciding, log, surroundings));
    }
    case undefined:
    default:
      throw new Error(`${sayWhat('approvals', action)}\n${usage}`);
  }
}

function idOf(id: string | undefined): string {
  if (id === undefined || id === '') throw new Error(`Name the approval.\n${usage}`);
  return id;
}

/**
 * The log, and the ledger’s word on what of it counts. An approver may have no access to the ledger: then all that is
 * there is shown.
 */
async function withLog({ environment, log }: CommandContext, work: (log: Log) => Promise<number>): Promise<number> {
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    if (environment.bus === 'kafka' && environment.databaseUrl === null) {
      log.warn('DATABASE_URL is not set: approvals on the log are shown without checking that an executor wrote them');
      return await work({ bus, counts: () => Promise.resolve(true) });
    }
    const { ledger } = await openLedger(environment, log);
    try {
      await requireBelonging({ bus, ledger }, environment);
      const counting = new CountingApprovals(new ApprovalClaims({ ledger, clock: systemClock }));
      return await work({ bus, counts: (message) => counting.counts(message) });
    } finally {
      await ledger.close();
    }
  } finally {
    await bus.close();
  }
}

async function list(log: Log, json: boolean, { write, print, paint }: CommandContext): Promise<number> {
  const open = await allOpen(log);
  if (json)
    for (const { requested } of open) print(`${JSON.stringify(recordToJson('ApprovalRequested', requested))}\n`);
  else if (open.length === 0) write('No call waits for an approval.\n');
  else
    for (const { requested } of open) {
      const { approvalId, tool, arguments: args, requestedBy, expiresAt } = printableIn(requested);
      write(`${paint.strong(approvalId)}  ${paint.tool(tool)} ${shorten(args)}\n`);
      write(paint.dim(`   asked by ${requestedBy}, waits until ${time(expiresAt)}\n`));
    }
  return 0;
}

async function show({ requested: asked, place }: Open, bus: Bus, { write, paint }: CommandContext): Promise<number> {
  const requested = printableIn(asked);
  const steps = printableIn((await approvalAt(bus, place))?.steps ?? []);
  const { approvalId, requestId, tool, effect, thought, requestedBy, onBehalfOf, argumentsHash } = requested;
  const lines: readonly (readonly [string, string])[] = [
    ['approval', paint.strong(approvalId)],
    ['tool', `${paint.tool(tool)} (${effect})`],
    [
      'arguments',
      printable(JSON.stringify(parseExactJson(requested.arguments), null, 2)).replaceAll('\n', `\n${' '.repeat(13)}`),
    ],
    ['hash', argumentsHash],
    ['asked by', `${requestedBy}${onBehalfOf === null ? '' : ` for ${onBehalfOf}`}, ${time(requested.requestedAt)}`],
    ['waits until', time(requested.expiresAt)],
    ['run', `${requestId}, iteration ${requested.iteration}, call ${requested.index + 1} of its turn`],
    ...(thought === '' ? [] : [['thought', shorten(thought)] as const]),
    ...steps.map((step) => ['done before', `${step.action} ${step.outcome}: ${shorten(step.observation)}`] as const),
    ['stands at', `${requested.topic} ${requested.partition} ${requested.offset}`],
  ];
  for (const [label, text] of lines) write(`${paint.dim(label.padEnd(13))}${text}\n`);
  return 0;
}

async function decide(
  { requested, place }: Open,
  deciding: Deciding,
  log: Log,
  { environment, write, paint }: CommandContext,
): Promise<number> {
  const { approvalId, requestId, sessionId, argumentsHash } = requested;
  const decidedAt = Date.now();
  const { partition: requestedPartition, offset: requestedOffset } = place;
  const ids = { approvalId, requestId, sessionId, argumentsHash };
  const decided = { ...ids, ...deciding, decidedAt, requestedPartition, requestedOffset };
  const record = { requested: null, decided, outcome: null };
  const written = { topic: topics.approvals, record } as const;
  const headers = await ownHeaders(written, environment);
  await log.bus.publish([{ ...written, key: sessionId, headers }]);
  const outcome = printableIn(await outcomeOf(approvalId, deciding, decidedAt - clockSkewMs, log));
  if (outcome === null) {
    write('The decision is on the log. No executor has taken it yet; one does when it runs.\n');
    return 0;
  }
  const { notTaken } = outcome;
  if (notTaken === null && isOwn(outcome, deciding)) {
    write(`${paint.good('✓')} ${approvalId}: ${deciding.decision} was taken, and the run goes on.\n`);
    return 0;
  }
  const why =
    notTaken === null
      ? `${outcome.decidedBy} was first, with ${outcome.decision}.`
      : isRejectionReason(notTaken)
        ? rejectionReasons[notTaken]
        : notTaken;
  write(`${paint.bad('✗')} ${approvalId}: the decision does not count. ${why}\n`);
  return 1;
}

/** The outcome of the decision, or of the one that was first; null if nothing comes in time. */
async function outcomeOf(
  approvalId: string,
  deciding: Deciding,
  fromTime: number,
  { bus, counts }: Log,
): Promise<ApprovalOutcome | null> {
  const options = { from: { time: fromTime }, follow: true, signal: AbortSignal.timeout(patienceMs) };
  for await (const message of bus.read([topics.approvals], options)) {
    const { outcome } = message.record;
    if (outcome?.approvalId !== approvalId) continue;
    if (outcome.notTaken === null ? await counts(message) : isOwn(outcome, deciding)) return outcome;
  }
  return null;
}

/** As far as one can tell: who the credential names is not known here. */
function isOwn({ decision, decidedBy }: ApprovalOutcome, deciding: Deciding): boolean {
  return decision === deciding.decision && (deciding.decidedBy === '' || decidedBy === deciding.decidedBy);
}

async function find(log: Log, id: string): Promise<Open> {
  const found = byBeginning(await allOpen(log), id, 'approval', ({ requested }) => requested.approvalId);
  if (found === undefined)
    throw new Error(`No call waits for the approval ${id}. "sluice approvals list" shows those that are open.`);
  return found;
}

/** Without the steps before them, which may be long. */
async function allOpen({ bus, counts }: Log): Promise<readonly Open[]> {
  const open = await openApprovals(bus, Date.now() - claimMemoryMs, counts, (requested, place) => ({
    requested: { ...requested, steps: [] },
    place,
  }));
  return [...open.values()];
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
