import type {
  AuthorizationPort,
  BoundTool,
  Evaluator,
  InputProblem,
  PastCalls,
  Step,
  ToolEffect,
  ToolErrorCode,
  ToolErrorReason,
  ToolSource,
} from '@sluice/core';
import { foreseen, lookupFact, ToolInputError } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import { boundedTurn } from '../bounded-turn.js';
import { directTurn } from '../direct-call.js';
import { readPast, usedOf } from '../past.js';
import { usesOf } from '../span-use.js';
import type { SpanUse } from '../span-use.js';
import { notMade, refusedCall } from '../room.js';
import { turnAfter } from '../steps.js';
import { runCall } from './run-call.js';
import type { CallInTurn, CallWorld } from './call-in-turn.js';
import { factsAt } from './call-facts.js';
import { pastCallerIn } from './past-of-call.js';

/** What a dry run of a call asks of the world. */
interface DryWorld {
  /** The tools that check arguments; nothing else of them is used. */
  readonly source: ToolSource;
  /** What was called before, for rules with a span; null where it cannot be read here. */
  readonly past: Pick<PastCalls, 'read'> | null;
  /** Whether the caller may learn what others of its tenant used. */
  readonly seesOthers: boolean;
  /** Null where the authorizer cannot be asked here, and decides at the call. */
  readonly authorizer: AuthorizationPort | null;
  /** Whether the caller may learn that there is a tool with this key; one that is offered it may. */
  mayName(key: string): boolean;
  /** An authorizer, or a check of arguments, failed: the caller does not hear why. */
  onFault(error: unknown): void;
}

/** What a call would come to, on the wire. */
export interface TriedCall {
  /** The tool's id; as the request names it where there is no such tool for the caller. */
  readonly tool: string;
  readonly effect: ToolEffect | null;
  readonly offered: boolean;
  readonly outcome: 'runs' | 'waits' | 'refused';
  /** Null where the call is refused before its arguments are checked. */
  readonly arguments_valid: boolean | null;
  readonly problems: readonly InputProblem[];
  /** Null where the call is refused before, and where the authorizer decides at the call. */
  readonly authorized: boolean | null;
  /** Null for a tool that is not offered. */
  readonly needs_approval: boolean | null;
  /** Why it is refused; null where it is not. */
  readonly code: ToolErrorCode | null;
  readonly reason: ToolErrorReason | null;
  /** The rule of the configuration that refuses it; null where none does. */
  readonly rule: string | null;
  readonly message: string | null;
  /** Lists that are kept elsewhere, which the executor asks at the call: here they count as letting it through. */
  readonly lists: readonly string[];
  /** What rules with a span count of the tool’s calls, before this one; empty where none does. */
  readonly counted: readonly SpanUse[];
}

/** How the stages ended, and with what refusal; null where there was none. */
interface End {
  readonly kind: TriedCall['outcome'];
  readonly refusal: {
    readonly errorCode: ToolErrorCode;
    readonly reason?: ToolErrorReason;
    readonly rule?: string;
    readonly safeMessage: string;
  } | null;
}

/**
 * What the call that a request makes itself would come to in its first turn, by the executor's own stages up to where
 * the tool would begin: nothing runs, nothing is claimed or counted, and no approval is asked for. Null where the
 * request makes no call. `at` is in milliseconds since the epoch.
 */
export async function tryCall(
  toolset: Toolset,
  evaluator: Evaluator,
  offered: readonly string[],
  at: number,
  world: DryWorld,
): Promise<TriedCall | null> {
  const { call: made } = toolset.request;
  if (made === null) return null;
  const tool = evaluator.tool(made.tool);
  const isOffered = tool !== undefined && offered.includes(tool.id);
  const isKnown = tool !== undefined && (isOffered || world.mayName(tool.key));
  const judge = isKnown ? evaluator : without(evaluator, tool?.id);
  const turn = directTurn({ ...toolset, iteration: 1 }, judge);
  if (turn === null) return null;
  const record = boundedTurn(toolset, toolset.run, { ...turn, model: null }, judge.configuration.limits);
  const [call] = record.calls;
  if (call === undefined) return null;
  const before = turnAfter(record, [], judge);
  const why = notMade(record, 0, [], before, judge);
  const watched = watching(world, at);
  const of: CallInTurn = {
    ...{ record, name: toolset.requestId, call, index: 0, offered: new Set(offered), turn: before, steps: [], at },
    judges: { granting: judge, inForce: judge },
  };
  const end =
    why === null
      ? await endOf(() => runCall(of, watched.world))
      : stepEnd(refusedCall(record, 0, before.state, at, why, judge));
  const { refusal } = end;
  const isMisfit = refusal?.errorCode === 'validation' && !watched.hasPassed();
  const isInvalid = refusal?.errorCode === 'invalid_json' || isMisfit;
  const whole = isInvalid && refusal !== null ? [{ path: '', message: refusal.safeMessage }] : [];
  return {
    tool: call.tool,
    effect: isKnown ? (tool.spec?.effect ?? null) : null,
    offered: isOffered,
    outcome: end.kind,
    arguments_valid: isInvalid ? false : watched.hasPassed() ? true : null,
    problems: watched.problems().length > 0 ? watched.problems() : whole,
    authorized: authorizedIn(refusal, watched.isReached(), world),
    needs_approval: !isOffered
      ? null
      : end.kind === 'refused'
        ? judge.policy.decide(tool) !== 'allow'
        : end.kind === 'waits',
    code: refusal?.errorCode ?? null,
    reason: refusal?.reason ?? null,
    rule: refusal?.rule ?? null,
    message: refusal?.safeMessage ?? null,
    lists: watched.lists(),
    counted: isKnown ? await countedFor(of, at, world) : [],
  };
}

/** What rules count of calls of the called tool, as far as the caller may learn it. */
function countedFor(of: CallInTurn, at: number, { past, seesOthers }: DryWorld): Promise<readonly SpanUse[]> {
  const { call, turn, judges } = of;
  const { rules } = factsAt(of, null, {});
  const spans = judges.granting.past.spans({ toolId: call.tool, caller: pastCallerIn(of), state: turn.state }, rules);
  return usesOf(spans, at, past, ({ per }) => seesOthers || (per !== 'tenant' && per !== 'agent'));
}

/** The evaluator for whom there is no such tool. */
function without(evaluator: Evaluator, toolId: string | undefined): Evaluator {
  if (toolId === undefined) return evaluator;
  const seen = (id: string) => (id === toolId ? undefined : evaluator.byId(id));
  return { ...evaluator, byId: seen, tool: (name) => seen(evaluator.tool(name)?.id ?? name) };
}

function authorizedIn(
  refusal: End['refusal'],
  isReached: boolean,
  { authorizer }: Pick<DryWorld, 'authorizer'>,
): boolean | null {
  if (authorizer === null) return null;
  if (refusal?.errorCode === 'authz_denied') return false;
  return isReached ? true : null;
}

/** The tool would begin here. One for all calls: an error’s stack is costly. */
const wouldBegin = new Error('A dry run ends before the tool begins.');

function begins(): never {
  throw wouldBegin;
}

async function endOf(run: () => ReturnType<typeof runCall>): Promise<End> {
  try {
    const end = await run();
    if (end.kind === 'parked') return { kind: 'waits', refusal: null };
    if (end.result.ok) throw new Error('A call that nothing ran has no result.');
    return { kind: 'refused', refusal: end.result };
  } catch (error) {
    if (error === wouldBegin) return { kind: 'runs', refusal: null };
    throw error;
  }
}

/** The end of a call for which its turn’s record has no room. */
function stepEnd({ outcome, reason, observation }: Step): End {
  const why = reason === null ? {} : { reason: reason as ToolErrorReason };
  return { kind: 'refused', refusal: { errorCode: outcome as ToolErrorCode, ...why, safeMessage: observation } };
}

/** Nothing aborts a dry run: it waits for nothing. */
const never = new AbortController().signal;

/** A world in which nothing acts, and what the check of the arguments said in it. */
function watching({ source, past, authorizer, onFault }: DryWorld, now: number) {
  let problems: readonly InputProblem[] = [];
  const lists = new Set<string>();
  let isReached = false;
  let hasPassed = false;
  const watchedTool = (tool: BoundTool): BoundTool => ({
    ...tool,
    validateInput: async (args) => {
      isReached = true;
      try {
        const checked = await tool.validateInput(args);
        hasPassed = true;
        return checked;
      } catch (error) {
        if (error instanceof ToolInputError) problems = error.problems;
        throw error;
      }
    },
  });
  const watched: ToolSource = {
    getBoundTool: (toolId) => {
      const tool = source.getBoundTool(toolId);
      return tool === undefined ? undefined : watchedTool(tool);
    },
    listToolSpecs: () => source.listToolSpecs(),
  };
  const world: CallWorld = {
    timeLeft: () => Infinity,
    isCancelled: () => Promise.resolve(false),
    signal: never,
    source: () => Promise.resolve(watched),
    authorizers: authorizer === null ? [] : [authorizer],
    onAuthorizerFault: (_tool, _runId, error) => onFault(error),
    decisionOn: () => Promise.resolve(null),
    standing: () => Promise.resolve(null),
    takeAgentRun: begins,
    rate: () => Promise.resolve({ ok: true }),
    past: async (asked, caller, at) => (past === null ? {} : readPast(asked, caller, at, past)),
    lists: (asked) => {
      for (const { list } of asked) lists.add(list);
      return Promise.resolve(Object.fromEntries(asked.map((one) => [lookupFact(one), one.wanted])));
    },
    foresee: async ({ reservation }) =>
      past === null ? { ok: true } : foreseen(reservation, await usedOf(reservation, now, past)),
    beginAgent: () => Promise.resolve({ ok: true }),
    capabilities: begins,
    once: begins,
    keepWaiting: begins,
    round: 1,
    askedAt: begins,
    cached: begins,
    questions: begins,
    keepAnswer: begins,
    keepResult: begins,
    contentBytes: 0,
    begun: () => Promise.resolve(null),
    hashResult: () => '',
    conceal: (_tool, result) => result,
    onStart: () => undefined,
    onParked: () => undefined,
    onResult: () => undefined,
    onFault: (_tool, _invocation, _at, error) => {
      if (error !== wouldBegin) onFault(error);
    },
    onReconciled: () => undefined,
    onCancel: () => () => undefined,
    after: () => () => undefined,
  };
  return {
    world,
    lists: () => [...lists],
    problems: () => problems,
    isReached: () => isReached,
    hasPassed: () => hasPassed,
  };
}
