import { approvalsMissing, claimMemoryMs, onExpiryOf, printable, printableIn, rulesInForce } from '@sluice/core';
import type { Configuration, DecisionPolicy, JsonValue } from '@sluice/core';
import { recordToJson, topics } from '@sluice/contracts';
import type { ApprovalRequested } from '@sluice/contracts';
import {
  approvalAt,
  approvalView,
  configurationsOn,
  inForceOf,
  outcomeOfCall,
  parkedTurn,
  shownSteps,
} from '@sluice/run';
import type { AppliedConfiguration, ShownStep } from '@sluice/run';
import { byBeginning } from '../by-beginning.js';
import { shorten } from '../show/story.js';
import type { CommandContext } from '../commands/command-context.js';
import { whoMayApprove } from './who-may-approve.js';
import type { ApprovalLog, LoggedApproval } from './approval-log.js';

const indent = ' '.repeat(13);

/**
 * A call that waits or was decided on, with its outcome. Who reads the log may see all of it, but for
 * what schemas call secret.
 */
export async function showApproval(
  id: string,
  json: boolean,
  log: ApprovalLog,
  { write, print, paint }: CommandContext,
): Promise<number> {
  const { place } = await anyAsked(log, id);
  const requested = await approvalAt(log.bus, place);
  if (requested === undefined) throw noSuch(id);
  const turn = await parkedTurn(requested, log.bus);
  const configurations = await configurationsOn(log.bus, log.signatures);
  const judges = judgesOf(requested, configurations);
  const mayRead = () => Promise.resolve(true);
  const view = await approvalView(requested, turn?.record ?? null, judges, mayRead);
  const { signal } = new AbortController();
  const found = await outcomeOfCall(requested, place.timestamp, log.bus, log, signal);
  const [call] = found.step === null ? [] : await shownSteps([found.step], judges, mayRead);
  const inForce = inForceOf(configurations);
  if (json) {
    print(
      `${JSON.stringify(approvalJson(requested, view, found, call, await log.claims.approvalsOf(requested.approvalId)))}\n`,
    );
    return 0;
  }

  const said = printableIn(requested);
  const { approvalId, requestId, effect, thought, requestedBy, onBehalfOf, argumentsHash, expiresAt } = said;
  const description = printable(view.tool.description ?? '').replaceAll('\n', `\n${indent}`);
  const policy = inForce?.read().policy;
  const may = policy === undefined ? '' : `, by ${whoMayApprove(policy, requested, Date.now())}`;
  const given = await log.claims.approvalsOf(requested.approvalId);
  const missing = approvalsMissing(requested.rules, given);
  const lines: readonly (readonly [string, string])[] = [
    ['approval', paint.strong(approvalId)],
    ...(view.question === null ? [] : [['question', printable(view.question)] as const]),
    ['tool', `${paint.tool(said.tool)} (${effect})`],
    ...(description === '' ? [] : [['', description] as const]),
    ['arguments', laidOut(view.arguments)],
    ['hash', argumentsHash],
    ...(view.rule === null ? [] : [['why', view.rule.message] as const]),
    ['asked by', `${requestedBy}${onBehalfOf === null ? '' : ` for ${onBehalfOf}`}, ${time(requested.requestedAt)}`],
    ['waits until', `${time(expiresAt)}${may}`],
    ...escalationsOf(requested, policy).map((text) => ['escalates', text] as const),
    ...(onExpiryOf(requested.rules) === 'run' ? [['then', 'the call runs without a decision'] as const] : []),
    ...given.map(({ by, at }) => ['approved by', `${printable(by)}, ${time(at)}`] as const),
    ...(given.length > 0 && missing > 0 ? [['still needed', `${missing} more`] as const] : []),
    ...(requested.state === '' ? [] : [['in state', printable(requested.state)] as const]),
    ...(requested.groups.length === 0 ? [] : [['with groups', printable(requested.groups.join(', '))] as const]),
    ...(requested.configVersion === '' ? [] : [['configuration', versionsOf(requested)] as const]),
    ['run', `${requestId}, iteration ${requested.iteration}, call ${requested.index + 1} of its turn`],
    ...(thought === '' ? [] : [['thought', shorten(thought)] as const]),
    ...view.stepsBefore.map((step) => ['done before', stepLine(step)] as const),
    ['stands at', `${requested.topic} ${requested.partition} ${requested.offset}`],
    ...decided(found, call),
  ];
  for (const [label, text] of lines) write(`${paint.dim(label.padEnd(13))}${text}\n`);
  return 0;
}

/** When who may decide too, by the configuration in force. */
function escalationsOf(requested: ApprovalRequested, policy: DecisionPolicy | undefined): readonly string[] {
  const rules = policy === undefined ? requested.rules : rulesInForce(requested, policy);
  return rules.flatMap(({ escalatesAt, escalateTo }) =>
    escalatesAt === null ? [] : [`${time(escalatesAt)} to ${printable(escalateTo.join(', '))}`],
  );
}

/** The configuration that granted the turn, and the one in force when it was asked where that is another. */
function versionsOf({ configVersion, inForceVersion }: ApprovalRequested): string {
  const isOther = inForceVersion !== '' && inForceVersion !== configVersion;
  return isOther ? `${configVersion}, asked under ${inForceVersion}` : configVersion;
}

/** As `GET /v1/approvals/{approval_id}` names it, but for what depends on who asks there. */
function approvalJson(
  requested: ApprovalRequested,
  view: Awaited<ReturnType<typeof approvalView>>,
  { outcome, runEnded }: Awaited<ReturnType<typeof outcomeOfCall>>,
  call: ShownStep | undefined,
  given: Awaited<ReturnType<ApprovalLog['claims']['approvalsOf']>>,
): object {
  const { steps: _, ...approval } = recordToJson('ApprovalRequested', requested) as Readonly<Record<string, unknown>>;
  const decision = outcome && { decision: outcome.decision, decided_by: outcome.decidedBy, reason: outcome.reason };
  return {
    ...{ approval, question: view.question, arguments: view.arguments },
    tool: { key: view.tool.key, description: view.tool.description, input_schema: view.tool.inputSchema },
    ...{ asked_because: view.rule, steps_before: view.stepsBefore },
    approved_by: given.map(({ by, at, rules }) => ({ by, at, rules })),
    still_needed: outcome === null ? Math.max(1, approvalsMissing(requested.rules, given)) : 0,
    ...{ decision, decided_at: outcome?.at ?? null, call: call ?? null, run_ended: runEnded },
  };
}

function decided(
  { outcome, runEnded }: Awaited<ReturnType<typeof outcomeOfCall>>,
  call: ShownStep | undefined,
): readonly (readonly [string, string])[] {
  if (outcome === null) return [];
  const { decision, decidedBy, reason, at } = printableIn(outcome);
  const why = reason === '' ? '' : `: ${reason}`;
  const came =
    call !== undefined
      ? stepLine(call)
      : runEnded === null
        ? 'no result yet'
        : `none: the run ended (${printable(runEnded)})`;
  return [
    ['decided', `${decision} by ${decidedBy}, ${time(at)}${why}`],
    ['outcome', came],
  ];
}

function stepLine(step: ShownStep): string {
  const { tool, outcome, reason, result } = printableIn(step);
  return `${tool} ${outcome}${reason === null ? '' : ` (${reason})`}: ${shorten(result ?? '')}`;
}

/** Of all that were asked for, decided or not, the one that is named. */
async function anyAsked({ bus, counts }: ApprovalLog, id: string): Promise<LoggedApproval> {
  const options = { from: { time: Date.now() - claimMemoryMs }, onUndecodable: () => undefined } as const;
  const named = new Map<string, LoggedApproval>();
  for await (const message of bus.read([topics.approvals], options)) {
    const { requested } = message.record;
    // What is asked once more stands behind what is asked first.
    if (
      requested === null ||
      requested.question !== null ||
      !requested.approvalId.startsWith(id) ||
      named.has(requested.approvalId)
    )
      continue;
    if (await counts(message))
      named.set(requested.approvalId, { requested: { ...requested, steps: [] }, place: message });
  }
  const found = byBeginning([...named.values()], id, 'approval', ({ requested }) => requested.approvalId);
  if (found === undefined) throw noSuch(id);
  return found;
}

function noSuch(id: string): Error {
  return new Error(`No call asked for the approval ${id}. "sluice approvals list" shows those that wait.`);
}

/** The configurations that asked, the granting one first. */
function judgesOf(
  { configVersion, inForceVersion }: ApprovalRequested,
  all: readonly AppliedConfiguration[],
): readonly Configuration[] {
  return [...new Set([configVersion, inForceVersion])].flatMap((version) => {
    const record = all.findLast((one) => one.version === version);
    return record === undefined ? [] : [record.read()];
  });
}

function laidOut(args: JsonValue): string {
  return printable(JSON.stringify(args, null, 2)).replaceAll('\n', `\n${indent}`);
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
