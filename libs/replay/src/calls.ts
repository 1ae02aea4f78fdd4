import type {
  AuthorizationPort,
  BoundTool,
  Configuration,
  ConfiguredTool,
  Judges,
  Lookup,
  Reservation,
  Step,
  ToolErrorCode,
  ToolErrorReason,
  ToolExecResult,
  ToolSource,
} from '@sluice/core';
import { amountFrom, foreseen, lookupFact, recordedDenial, standingFact } from '@sluice/core';
import { cancelledBefore, editOf, parseArguments, runCall } from '@sluice/run';
import type { CallInTurn, CallWorld, AcceptedDecision, ParkedCall } from '@sluice/run';
import type { AskedQuestion } from '@sluice/contracts';
import { NotReplayable } from './outcome.js';

/** Who decides what is permitted under a configuration. */
export type AuthorizerOf = (configuration: Configuration) => AuthorizationPort;

/** The decision that was taken on an approval; null where there is none. */
type DecisionOn = (approvalId: string) => AcceptedDecision | null;

export const nothingDecided: DecisionOn = () => null;

/**
 * What became of a call: it was refused; it is parked; or it came to its tool, and what that gave is the record’s to
 * say.
 */
export type Admission = (
  | { readonly kind: 'refused'; readonly result: ToolExecResult & { ok: false } }
  | { readonly kind: 'parked'; readonly parked: ParkedCall }
  | { readonly kind: 'admitted' }
) & {
  /** What its approver changed its arguments to; null where nothing was changed. */
  readonly edited: Step['edited'];
};

/**
 * Runs the call as the executor does, with a world that answers from the log: what only the recorded run can know
 * (whether the tool was there, an authorizer out of reach, the clock, what the tool said) is taken from the recorded
 * step, null where there is none. Where an approval is needed, `decisionOn` says which decision was taken. `question`:
 * what its server asked the caller then, for which the call was parked. `recordedBy`: the configurations by which it
 * was judged then. Throws NotReplayable where totals decide of which the record does not know what was used.
 */
export async function admit(
  call: CallInTurn,
  authorizerOf: AuthorizerOf,
  recorded: Step | null,
  decisionOn: DecisionOn,
  question: AskedQuestion | null = null,
  recordedBy: Judges = call.judges,
): Promise<Admission> {
  try {
    const end = await runCall(call, recordedWorld(call, authorizerOf, recorded, decisionOn, question, recordedBy));
    if (end.kind === 'parked') return end;
    if (end.result.ok) throw new Error('A call that nothing ran has no result.');
    return { kind: 'refused', result: end.result, edited: end.edited };
  } catch (error) {
    if (error !== onTheRecord) throw error;
    const args = parseArguments(call.call.arguments) ?? null;
    const edited = await editOf(call, args, { decisionOn: (id) => Promise.resolve(decisionOn(id)) });
    return { kind: 'admitted', edited };
  }
}

/** The call came to where only its recorded step says how it went on. One for all calls: an error’s stack is costly. */
const onTheRecord = new Error('The recorded step says how the call went on.');

function saidByTheRecord(): never {
  throw onTheRecord;
}

/** A call of the past is never aborted. */
const never = new AbortController().signal;

function recordedWorld(
  { record, judges, call }: CallInTurn,
  authorizerOf: AuthorizerOf,
  recorded: Step | null,
  decisionOn: DecisionOn,
  question: AskedQuestion | null,
  recordedBy: Judges,
): CallWorld {
  const configurations = new Set([judges.granting.configuration, judges.inForce.configuration]);
  return {
    timeLeft: () => (recorded !== null && isLate(recorded, record) ? 0 : Infinity),
    isCancelled: () => Promise.resolve(recorded?.reason === 'cancelled' && recorded.observation === cancelledBefore),
    signal: never,
    source: () => Promise.resolve(recordedTools(judges.granting, recorded)),
    authorizers: [...configurations]
      .filter(({ authorization }) => authorization !== null)
      .map((one) => (one.authorization?.kind === 'openfga' ? answered(recorded) : authorizerOf(one))),
    onAuthorizerFault: (_tool, _runId, error) => {
      throw new NotReplayable(`Whether it was permitted cannot be decided: ${(error as Error).message}`);
    },
    // Arguments that the tool refused needed no approval.
    decisionOn: (id) => Promise.resolve(recorded !== null && isRefusedInput(recorded) ? approve : decisionOn(id)),
    standing: () => Promise.resolve(recorded?.facts[standingFact] ?? null),
    takeAgentRun: () => Promise.resolve(true),
    rate: () => Promise.resolve({ ok: true }),
    past: () => Promise.resolve(recorded?.facts ?? {}),
    lists: (asked) => Promise.resolve(recordedLists(asked, recorded, judges.granting.configuration.version, record)),
    foresee: ({ reservation, onUsed }) => {
      const used = recordedUse(reservation, recorded);
      if (used.some((one) => one !== undefined)) onUsed(used.map((one) => one ?? 0n));
      const verdict = foreseen(reservation, used);
      // Of a call that went on, or that an earlier attempt had begun, its step does not say what the record then knew.
      const known = [recordedBy.granting, recordedBy.inForce].flatMap(({ past }) => past.totalFacts(call.tool));
      const isNew = ({ total }: Reservation['limits'][number], place: number): boolean =>
        total !== null && used[place] === undefined && !known.includes(total.fact);
      const unknown = verdict.ok ? reservation.limits.find(isNew) : undefined;
      if (unknown !== undefined)
        throw new NotReplayable(`What was used of the total of the rule “${unknown.rule}” was not recorded.`);
      return Promise.resolve(verdict);
    },
    beginAgent: () => Promise.resolve({ ok: true }),
    capabilities: question === null ? saidByTheRecord : () => Promise.resolve({}),
    once: question === null ? saidByTheRecord : () => Promise.resolve('waits'),
    keepWaiting: saidByTheRecord,
    round: question?.round ?? 1,
    askedAt: () => question?.askedAt ?? 0,
    cached: saidByTheRecord,
    questions: saidByTheRecord,
    keepAnswer: saidByTheRecord,
    keepResult: saidByTheRecord,
    contentBytes: 0,
    begun: () => Promise.resolve(null),
    hashResult: () => '',
    conceal: (_tool, result) => result,
    onStart: () => undefined,
    onParked: () => undefined,
    onResult: () => undefined,
    onFault: () => undefined,
    onReconciled: () => undefined,
    onCancel: () => () => undefined,
    after: () => () => undefined,
  };
}

/**
 * What the step says of lists that are kept elsewhere. Where it says nothing, and neither bounds refused the call nor
 * is another configuration asked about, the call was let through: it went on to an approval, to an agent, or an
 * earlier attempt had begun it.
 */
function recordedLists(
  asked: readonly Lookup[],
  recorded: Step | null,
  version: string,
  { configVersion }: CallInTurn['record'],
): Readonly<Record<string, string>> {
  const known = recorded?.facts ?? {};
  const isRefused = recorded?.reason === 'arguments_out_of_bounds';
  return Object.fromEntries(
    asked.flatMap((one): [string, string][] => {
      const fact = lookupFact(one);
      if (Object.hasOwn(known, fact)) return [[fact, known[fact] ?? '']];
      if (version !== configVersion)
        throw new NotReplayable(`Whether the list “${one.list}” had a value of the call was not recorded.`);
      return isRefused ? [] : [[fact, one.wanted]];
    }),
  );
}

/** What the step says was used of each total before its call; undefined where it says nothing. */
function recordedUse({ limits }: Reservation, recorded: Step | null): readonly (bigint | undefined)[] {
  return limits.map(({ total }) => {
    const text = total === null ? undefined : recorded?.facts[total.fact];
    return text === undefined ? undefined : (amountFrom(text) ?? undefined);
  });
}

/**
 * What OpenFGA answered when the call was made, which its step says: the store may have changed since. A call without
 * a step went on to where no authorizer is asked any more.
 */
function answered(recorded: Step | null): AuthorizationPort {
  return {
    check: (_actor, _subject, action) =>
      Promise.resolve((recorded === null ? null : recordedDenial(recorded, action)) ?? { allowed: true }),
  };
}

/**
 * The tools as the configuration describes them. Whether arguments fit is for the tool’s own check to say, which only
 * the recorded run has asked.
 */
function recordedTools({ byId }: CallInTurn['judges']['granting'], recorded: Step | null): ToolSource {
  return {
    getBoundTool: (toolId) => {
      if (recorded !== null && isFact(recorded)) saidByTheRecord();
      const tool = byId(toolId);
      return tool === undefined ? undefined : described(tool, recorded);
    },
    listToolSpecs: () => [],
  };
}

function described(tool: ConfiguredTool, recorded: Step | null): BoundTool | undefined {
  const { id, spec, repeatable } = tool;
  if (spec === null) return undefined;
  return {
    ...{ id, spec, repeatable, effect: spec.effect, capabilities: [] },
    // That a tool needs a connection which is not configured is in its code.
    requiresConnection: tool.connection !== undefined || recorded?.reason === 'connection_missing',
    validateInput: (args) => args,
    exec: saidByTheRecord,
    validateOutput: saidByTheRecord,
    redact: saidByTheRecord,
  };
}

const approve: AcceptedDecision = { decision: 'approve', reason: '' };

function isRefusedInput({ outcome, reason, edited }: Step): boolean {
  return outcome === 'validation' && reason === null && edited === null;
}

/** Reasons with which a call can end that no record but its own step holds. */
function isFact({ reason, outcome }: Step): boolean {
  return (
    outcome === 'unavailable' &&
    (reason === 'not_bound' || reason === 'held_back' || reason === 'authorizer_unreachable')
  );
}

/** The clock is looked at once more when there is room for the call, so a late end says that it was late. */
function isLate({ startedAt, endedAt, reason }: Step, { run }: CallInTurn['record']): boolean {
  return startedAt >= run.deadline || (reason === 'deadline' && endedAt >= run.deadline);
}

/** What the recorded step says that its tool gave. */
export function recordedResult(toolCallId: string, recorded: Step): ToolExecResult {
  const { outcome, observation, reason } = recorded;
  const facts = {
    ...(recorded.resultHash === null ? {} : { resultHash: recorded.resultHash }),
    ...(recorded.cachedAt === null ? {} : { cachedAtMs: recorded.cachedAt }),
    ...(recorded.content.length === 0 ? {} : { content: recorded.content }),
    ...(recorded.questions.length === 0 ? {} : { questions: recorded.questions }),
    ...(Object.keys(recorded.facts).length === 0 ? {} : { facts: recorded.facts }),
  };
  if (outcome === 'ok') return { toolCallId, ok: true, value: observation, ...facts };
  const errorCode = outcome as ToolErrorCode;
  const why = reason === null ? {} : { reason: reason as ToolErrorReason };
  return { toolCallId, ok: false, errorCode, ...why, safeMessage: observation, ...facts };
}
