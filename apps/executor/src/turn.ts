import { setTimeout as sleep } from 'node:timers/promises';
import {
  begunBefore,
  claimMemoryMs,
  effectOnce,
  faultText,
  isClientTool,
  NoticeGate,
  pastOutcomeOf,
  reserve,
  standingFor,
  ToolUnavailableError,
  withinRate,
  withinServerRate,
} from '@sluice/core';
import type {
  BegunBefore,
  BoundTool,
  CallEnd,
  CallLimit,
  ConfiguredTool,
  CountedCall,
  EffectClaims,
  JsonValue,
  PastOutcome,
  StandingApproval,
  Step,
  ToolInvocation,
} from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import {
  acceptedDecision,
  afterStep,
  AgentRunClaims,
  agentRunOf,
  ApprovalClaims,
  begunCall,
  CallerForms,
  ClientCalls,
  callsAhead,
  callIdOf,
  callKeyOf,
  cancelOf,
  endedStep,
  hashedResult,
  hasRoom,
  hideSecrets,
  longestWaitMs,
  noRoomForResult,
  offeredIds,
  otherLabel,
  peekAtCall,
  readPast,
  refusedCall,
  runCall,
  runOfRecord,
  runTurn,
  RunTools,
  StandingApprovals,
  resultBytesOf,
  resumeCall,
  turnAfter,
  waitMs,
  agentOf,
  budgetPartsOf,
  pastCallerOf,
} from '@sluice/run';
import type {
  CallAhead,
  CallInTurn,
  CallOutcome,
  CallWorld,
  ClientWait,
  EndOfCall,
  Loaded,
  NextCall,
  NotMade,
  ParkedCall,
  StandingFacts,
  ResumedWith,
  TurnEnd,
  BudgetParts,
} from '@sluice/run';
import { CallQuestions } from '@sluice/hub';
import { processesPerFile } from '@sluice/isolation';
import type { FromClient } from '@sluice/sources';
import type { OwnProgress } from '@sluice/tools';
import { contentByDefault, lookForCancel, toolSpan } from '@sluice/host';
import type { Runtime, SpanEnd } from '@sluice/host';
import type { AllReturned, Returned } from './agents/returned.js';
import { keepAnswer } from './keep-answer.js';
import { keepResult } from './keep-result.js';
import { CallConnection } from './connections/call-connection.js';
import type { Toolbox } from './toolbox.js';
import { askCaller, marginMs } from './ask-caller.js';
import type { AskCaller } from './ask-caller.js';
import { toolLabel } from './step-metrics.js';
import { TurnProgress } from './turn-progress.js';

/** A call that goes on behind an answer of its caller. */
export interface Resumed {
  readonly index: number;
  /** The round that begins. */
  readonly round: number;
  /** What it goes on with; null where that is gone. */
  readonly parked: ResumedWith | null;
  /** The calls that its client ran, with what it gave; absent where it answered a form. */
  readonly client?: ClientWait;
}

/** A call that its request makes itself. */
interface OwnCall {
  /** Keeps of it, before it acts, what an attempt that follows needs. */
  keep(): Promise<void>;
  /** When its run was found not to be cancelled, by `performance.now()`. */
  readonly lookedAt: number;
}

/** How long it is not looked up once more whether a run is cancelled: as long as for a call that has begun; in ms. */
const lookedMs = 100;

/** Calls that may be under way at one MCP server: beyond it they wait their turn, before their time begins to run. */
const callsPerServer = 64;

/** A call that its request makes itself and that ends within this time has its step alone, no progress; in ms. */
const quietMs = 100;

/** How long a call counts as running beyond its time, if its process was lost. */
const lostMs = 60_000;

/** A turn whose calls are answered by the world: ledger, authorizers, connections and tools. */
export class Turn {
  private static handled = 0;
  /**
   * Which handling of a record by this process it is: one that was lost with its partition, or re-driven, comes back
   * as a first attempt.
   */
  private readonly handling = ++Turn.handled;
  private readonly progress: TurnProgress;
  private readonly offered: ReadonlySet<string>;
  private readonly runTools: RunTools;
  /** The steps of calls that an earlier attempt had begun. */
  readonly begunBefore = new Set<Step>();

  /** `name` is what its run is called where it is claimed; `isAgain`, whether an attempt may have gone before. */
  constructor(
    private readonly record: ToolCall,
    private readonly name: string,
    private readonly isAgain: boolean,
    private readonly context: HandlerContext,
    private readonly granting: Loaded,
    private readonly inForce: Loaded,
    private readonly toolbox: Toolbox,
    private readonly runtime: Runtime,
    private readonly resumed: Resumed | null = null,
    private readonly ownCall: OwnCall | null = null,
  ) {
    this.progress = new TurnProgress(record, context, granting, runtime, ownCall === null ? 0 : quietMs);
    this.offered = new Set(offeredIds(record, granting.evaluator));
    this.runTools = new RunTools(record, granting.evaluator);
  }

  /**
   * Runs the calls behind those that are `done`, one after another. One that needs an approval, or runs as an agent,
   * parks the turn; where agents’ runs `returned`, the turn goes on with their results.
   */
  run(done: readonly Step[], returned: AllReturned): Promise<TurnEnd> {
    return runTurn(this.record, done, this.granting.evaluator, (next) => {
      const back = returned.get(next.index);
      if (back !== undefined) return this.takeBack(next, back);
      return next.notMade === null ? this.make(next) : this.refuse(next, next.notMade);
    });
  }

  /** The calls behind the one that waits for an approval at `index` which need one as well, as the turn stands. */
  ahead(index: number, done: readonly Step[], at: number): Promise<readonly CallAhead[]> {
    const { record, granting } = this;
    const before = { steps: done, turn: turnAfter(record, done, granting.evaluator) };
    return callsAhead(record, index, before, granting.evaluator, (next) => {
      const world = this.world(next);
      return peekAtCall(this.judged(next, at), {
        ...world,
        // Nothing is counted of a call that does not begin.
        standing: async (...of) => (await this.standingOf(...of))[0]?.id ?? null,
      });
    });
  }

  private async make(next: NextCall): Promise<CallOutcome> {
    const startedAt = this.runtime.clock.now();
    const end = await this.traced(next, startedAt);
    // What an earlier attempt asked and left waits for no answer any more, unless the call waits for that.
    if (end.kind === 'done' && this.isAgain && this.record.request.call !== null) await this.withdraw();
    return end.kind === 'parked'
      ? { ...end, startedAt }
      : { kind: 'step', step: this.ended(next, end, startedAt), counts: true };
  }

  /** Of a call that went on with it, once its step is on the log: an attempt that follows this one needs it. */
  private async withdraw(): Promise<void> {
    const forms = new CallerForms(this.runtime);
    const withdraw = (): Promise<void> => forms.withdraw(runOfRecord(this.record));
    if (this.resumed === null) return withdraw();
    this.context.afterCommit(() => void withdraw().catch(() => undefined));
  }

  private async takeBack(next: NextCall, { end, run, startedAt }: Returned): Promise<CallOutcome> {
    const { result, edited } = await resumeCall(this.judged(next, startedAt), end, this.world(next));
    if (this.isCounted(next.call.tool))
      await this.endInPast(callKeyOf(this.name, next.record, next.call, next.index), pastOutcomeOf(result));
    const { evaluator } = this.granting;
    const agentRun = agentRunOf(end, run, this.record.run, evaluator);
    const step = endedStep(next, evaluator, result, this.until(startedAt), agentRun, edited);
    return { kind: 'step', step, counts: true };
  }

  /**
   * The step of a call that is not made, whatever its tool. One that an earlier attempt made has that outcome, if
   * there is room for it.
   */
  private async refuse(next: NextCall, why: NotMade): Promise<CallOutcome> {
    const { record, runtime } = this;
    const { index, turn, call, steps } = next;
    const { evaluator } = this.granting;
    const now = runtime.clock.now();
    const before = await begunCall(this.judged(next, now), this.world(next));
    if (before === null)
      return { kind: 'step', step: refusedCall(record, index, turn.state, now, why, evaluator), counts: false };
    const step = this.ended(next, { ...before, begunAtMs: before.startedAtMs }, now);
    const after = afterStep(turn, call.tool, step, evaluator);
    if (why !== 'record_full' || hasRoom(record, [...steps, step], after, evaluator))
      return { kind: 'step', step, counts: true };
    const times = { startedAtMs: step.startedAt, endedAtMs: step.endedAt };
    const brief = noRoomForResult(record, index, turn.state, times, evaluator);
    this.begunBefore.add(brief);
    return { kind: 'step', step: brief, counts: true };
  }

  private ended(
    next: NextCall,
    { result, begunAtMs, edited }: Pick<EndOfCall & { kind: 'done' }, 'result' | 'begunAtMs' | 'edited'>,
    startedAtMs: number,
  ): Step {
    const times = this.until(begunAtMs ?? startedAtMs);
    const step = endedStep(next, this.granting.evaluator, result, times, null, edited);
    if (begunAtMs !== null) this.begunBefore.add(step);
    return step;
  }

  /** A clock that was set back makes no call that ends before it starts. */
  private until(startedAtMs: number): { readonly startedAtMs: number; readonly endedAtMs: number } {
    return { startedAtMs, endedAtMs: Math.max(startedAtMs, this.runtime.clock.now()) };
  }

  private judged({ record, call, index, turn, steps }: NextCall, at: number): CallInTurn {
    const judges = { granting: this.granting.evaluator, inForce: this.inForce.evaluator };
    return { record, name: this.name, call, index, turn, steps, offered: this.offered, judges, at };
  }

  private traced(next: NextCall, at: number): Promise<EndOfCall> {
    const { record, call, index, turn } = next;
    const toolCallId = callIdOf(record, call, index);
    const { sessionId, iteration } = record;
    const tool = this.granting.evaluator.byId(call.tool) ?? null;
    const span = () => toolSpan(tool, { sessionId, iteration, toolCallId, state: turn.state });
    return this.runtime.traces.span(span, async (spanEnds) => {
      const work = (): Promise<EndOfCall> => this.counted(() => runCall(this.judged(next, at), this.world(next)));
      const inRoom = (): ReturnType<typeof work> => this.withRoom(tool, work);
      // Meanwhile other turns are at work.
      const end = await (this.context.aside?.(inRoom) ?? inRoom());
      const without = spanEnd(end);
      if (without !== null) spanEnds(without);
      if (end.kind === 'done' && !end.result.ok && end.result.errorCode === 'invalid_json')
        this.progress.invalid(end.result, call.tool);
      return end;
    });
  }

  /** For rules about load: calls that were refused or wait for something say nothing of how long tools take. */
  private async counted(work: () => Promise<EndOfCall>): Promise<EndOfCall> {
    const ended = this.toolbox.calls.begin();
    let wasRun = false;
    try {
      const end = await work();
      wasRun = end.kind === 'done' && (end.result.ok || end.result.errorCode === 'execution');
      return end;
    } finally {
      ended(wasRun);
    }
  }

  /**
   * Waits until the tool’s server, or its file’s processes, have room for the call: its time does not run meanwhile.
   */
  private withRoom<T>(tool: ConfiguredTool | null, work: () => Promise<T>): Promise<T> {
    const { perServer } = this.toolbox;
    const { signal } = this.context;
    if (tool?.mcp) return perServer.in(`server ${tool.mcp.server}`, signal, work, callsPerServer);
    if (tool?.file === undefined) return work();
    return perServer.in(`file ${tool.file.path}`, signal, work, processesPerFile);
  }

  private owner({ callKey }: ToolInvocation): string {
    return `${this.runtime.environment.instance}/${callKey}/${this.handling}`;
  }

  /** Whether it was found a moment ago that the run is not cancelled: a call may have waited for room since. */
  private get hasLooked(): boolean {
    return this.ownCall !== null && performance.now() < this.ownCall.lookedAt + lookedMs;
  }

  private roundOf(index: number): number {
    return this.resumedAt(index)?.round ?? 1;
  }

  /** What the call goes on with, where it is one that waited for its caller. */
  private resumedAt(index: number): Resumed | null {
    const { resumed } = this;
    const isIts = resumed?.index === index || resumed?.client?.calls.some((call) => call.index === index) === true;
    return isIts ? resumed : null;
  }

  /** What the client gave for the call; `waits` where it has not heard of it. */
  private fromClient(index: number): FromClient['result'] {
    const client = this.resumedAt(index)?.client;
    if (client === undefined) return 'waits';
    const id = client.calls.find((call) => call.index === index)?.id;
    return client.results?.find((result) => result.id === id) ?? null;
  }

  private claims(invocation: ToolInvocation, index: number, counted: CountedCall | null = null): EffectClaims {
    const { ledger, clock, log } = this.runtime;
    return {
      ...{ ledger, clock },
      owner: this.owner(invocation),
      retentionMs: claimMemoryMs,
      isAgain: this.isAgain,
      ...(counted === null ? {} : this.counting(invocation, index, counted)),
      round: this.roundOf(index),
      sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
      onUnsettled: (callKey, error) =>
        log.error(
          { call_key: callKey, error: (error as Error).message },
          'an effect happened and its outcome could not be written to the ledger',
        ),
    };
  }

  /** A call that goes on was counted when it began. */
  private counting(
    invocation: ToolInvocation,
    index: number,
    counted: CountedCall,
  ): Pick<EffectClaims, 'reserve' | 'countEnd'> {
    return {
      ...(this.roundOf(index) === 1 ? { reserve: (claim) => reserve(counted, invocation, claim, this.runtime) } : {}),
      countEnd: (outcome) => this.endInPast(invocation.callKey, outcome),
    };
  }

  /** Whether a rule counts calls of the tool beyond their run. */
  private isCounted(toolId: string): boolean {
    return [this.granting, this.inForce].some(({ evaluator }) => evaluator.past.counts(toolId));
  }

  /** What a call had no effect with is given back; one that is not written counts on, as what is under way. */
  private async endInPast(callKey: string, outcome: PastOutcome): Promise<void> {
    try {
      await this.runtime.past.end(callKey, outcome);
    } catch (error) {
      this.runtime.log.error(
        { call_key: callKey, error: (error as Error).message },
        'the end of a call that rules count could not be written to the ledger',
      );
    }
  }

  /**
   * The effect as it is made where no record but its request tells of it: once that is on the disk, and what was
   * decided about it. The claim that comes in between puts the latter there. What rules count keeps its decision as
   * well: an attempt that comes after must not be decided by this one’s own call.
   */
  private async kept<T>(
    { effect: kind }: BoundTool,
    effect: () => Promise<T>,
    isCounted: boolean,
  ): Promise<() => Promise<T>> {
    if (this.ownCall === null || (kind === 'read_only' && !isCounted)) return effect;
    await this.ownCall.keep();
    if (kind === 'read_only') return effect;
    const durable = this.runtime.bus.durable();
    // Its error is that of the effect.
    durable.catch(() => undefined);
    return async () => {
      await durable;
      return effect();
    };
  }

  /** A call that waits for its caller is under way, however long that takes. */
  private async keepRunning({ toolId, callKey, timeoutMs }: ToolInvocation): Promise<void> {
    const now = this.runtime.clock.now();
    const waited = waitMs(toolId, this.record, [], [this.granting.evaluator, this.inForce.evaluator], now);
    await this.runtime.past.keepRunning(callKey, now + waited + timeoutMs + lostMs);
  }

  /**
   * What an earlier attempt at the call came to, whatever refuses it now: a policy of today, its time, a server that
   * is away.
   */
  private async begun(invocation: ToolInvocation, index: number): Promise<BegunBefore | null> {
    const tool = this.granting.evaluator.byId(invocation.toolId);
    if (tool === undefined) return null;
    if (tool.spec?.effect === 'read_only') {
      // What waited for its caller, and does not go on.
      if (this.roundOf(index) > 1 && this.isCounted(tool.id)) await this.endInPast(invocation.callKey, 'failed');
      return null;
    }
    const before = await begunBefore(invocation, this.claims(invocation, index));
    if (before === null) return null;
    if (this.isCounted(tool.id)) await this.endInPast(invocation.callKey, pastOutcomeOf(before.result));
    this.runtime.log.warn(
      { request_id: this.record.requestId, tool_call_id: invocation.context.toolCallId, tool: invocation.toolId },
      'call already executed by an earlier attempt; using its recorded result',
    );
    // That attempt was in time, though the claim may have been written a little later.
    return { ...before, startedAtMs: Math.min(before.startedAtMs, this.record.run.deadline - 1) };
  }

  /** Which standing approval lets the call through, and counts it: looked at only where it would wait. */
  private async standing(
    tool: BoundTool,
    invocation: ToolInvocation,
    args: JsonValue,
    by: StandingFacts,
  ): Promise<string | null> {
    const { runtime } = this;
    const entry = this.granting.evaluator.byId(tool.id);
    const key = entry?.key ?? tool.id;
    const approvals = new StandingApprovals(runtime);
    for (const one of await this.standingOf(tool, invocation, args, by)) {
      if (!(await approvals.use(invocation.context.tenantId, one, invocation.callKey))) continue;
      const about = { request_id: this.record.requestId, tool: key, standing_id: one.id };
      this.context.afterCommit(() => {
        runtime.metrics.standingCalls.inc({ tool: entry === undefined ? key : toolLabel(entry) });
        runtime.log.info({ ...about, given_by: one.givenBy }, 'a call ran by a standing approval');
      });
      return one.id;
    }
    return null;
  }

  /** The standing approvals that may let the call through. */
  private async standingOf(
    tool: BoundTool,
    { context }: ToolInvocation,
    args: JsonValue,
    { rules: facts, asks }: StandingFacts,
  ): Promise<readonly StandingApproval[]> {
    const { runtime } = this;
    const { policy, lists, identity } = this.inForce.configuration;
    const entry = this.granting.evaluator.byId(tool.id);
    if (entry === undefined) return [];
    const { tenantId, actorId, subjectId = null, sessionId: session } = context;
    const all = await new StandingApprovals(runtime).of(tenantId);
    const isIdentified = identity.provider !== 'none';
    const call = { tool: entry, args, session, actorId, subjectId, isIdentified, facts, asks };
    return standingFor(all, call, runtime.clock.now(), policy, lists);
  }

  /** How a call, and the server of its tool, tell its caller how it goes on. */
  private progressOf(tool: BoundTool, { toolId, context }: ToolInvocation, connection: CallConnection): OwnProgress {
    const { toolCallId, tenantId, subjectId = null, actorId } = context;
    const secrets = connection.concealing;
    const { server = otherLabel, content: kinds } = this.granting.evaluator.byId(toolId)?.mcp ?? {};
    const isOpen = 'whole' in tool.spec.redaction && (kinds === undefined || kinds.includes('text'));
    const gate = new NoticeGate({ isOpen, now: () => performance.now(), secrets });
    return {
      caller: JSON.stringify([tenantId, subjectId, actorId]),
      report: (text) => this.progress.say('tool_progress', toolCallId, toolId, secrets.text(text)),
      relay: (said) => {
        const notice = gate.admit(said);
        const outcome = notice === null ? 'dropped' : 'relayed';
        this.runtime.metrics.mcpNotices.inc({ server, kind: said.kind, outcome });
        if (notice !== null) this.progress.notice(toolCallId, toolId, notice);
      },
    };
  }

  /** Who fills in the forms of the tool’s server; null where a model made the call. */
  private callerOf(
    { toolId, context, callKey }: ToolInvocation,
    index: number,
    signal: AbortSignal,
    limit: CallLimit,
  ): AskCaller {
    const { record, runtime, progress, granting, inForce } = this;
    if (record.request.call === null) return null;
    const run = runOfRecord(record);
    const asking = {
      ...{ run, signal, by: context.actorId, until: record.run.deadline - marginMs },
      isGivenUp: () => this.context.signal.aborted,
    };
    const say = (id: string): void => progress.asks(context.toolCallId, toolId, id);
    const now = runtime.clock.now();
    const parkedMs = waitMs(toolId, record, [], [granting.evaluator, inForce.evaluator], now);
    // To wait here gives the person as much time.
    const mayWait = parkedMs > asking.until - now;
    const hasAnswered = this.resumed?.index === index;
    // It begins with the form that it was parked for.
    let resumed = hasAnswered ? (this.resumed?.parked ?? null) : null;
    let number = resumed === null ? 1 : resumed.number;
    return (server, form, mayPark) => {
      const asked = { ...asking, server, form, say, mayPark: mayPark && mayWait, hasAnswered, number, resumed };
      resumed = null;
      number++;
      return limit.paused(async () => {
        if (this.isCounted(toolId)) await runtime.past.keepRunning(callKey, record.run.deadline + lostMs);
        return askCaller(asked, runtime);
      });
    };
  }

  /** The budgets with a span that the model calls of a tool’s call are held against. */
  private budgetsOf({ callKey }: ToolInvocation): BudgetParts {
    const { record, granting } = this;
    const agent = agentOf(record, granting.evaluator);
    const caller = pastCallerOf({ principal: record.run.principal, agent }, record);
    return budgetPartsOf(granting.evaluator, caller, `model/${callKey}`);
  }

  /** The world of one call: its connection’s credential is opened once, and kept out of what the call gives. */
  private world({ index }: NextCall): CallWorld {
    const { runtime, toolbox, granting, inForce, record, progress } = this;
    const { clock, log, ledger } = runtime;
    const { configuration } = granting;
    const connection = new CallConnection(granting, inForce, toolbox.connections, runtime);
    const approvals = new ApprovalClaims(runtime);
    const agentRuns = new AgentRunClaims(runtime);
    const resumed = this.resumedAt(index);
    const questions = new CallQuestions(() => clock.now(), resumed?.parked);
    const { state: resume } = resumed?.parked ?? {};
    return {
      timeLeft: () => record.run.deadline - clock.now(),
      isCancelled: async () => !this.hasLooked && (await cancelOf(record, runtime)) !== null,
      signal: this.context.signal,
      source: () => toolbox.source(configuration),
      authorizers: [...new Set([granting, inForce].map((loaded) => toolbox.authorizer(loaded.configuration)))],
      onAuthorizerFault: (tool, runId, error) =>
        log.error(
          { tool: tool.id, request_id: runId, error: (error as Error).message },
          'the authorizer failed, so the call was refused',
        ),
      decisionOn: async (approvalId) => acceptedDecision((await approvals.decisionOn(approvalId)) ?? null),
      standing: (tool, invocation, args, by) => this.standing(tool, invocation, args, by),
      takeAgentRun: (requestId, callKey) => agentRuns.take({ ...runOfRecord(record), requestId }, callKey),
      rate: async (tool, invocation, perMinute) => {
        const counting = { rates: runtime.rates, ledger, clock, owner: this.owner(invocation) };
        const id = granting.evaluator.byId(tool.id)?.mcp?.server;
        // The limit of the configuration in force counts: it protects the server as it is now.
        const server = inForce.configuration.mcpServers.find((one) => one.id === id);
        const ofServer = server === undefined ? null : await withinServerRate(server, tool, invocation, counting);
        return ofServer?.ok === false ? ofServer : withinRate(tool, invocation, perMinute, counting);
      },
      capabilities: (tool, invocation, signal, limit) => {
        if (resumed?.parked === null)
          throw new ToolUnavailableError('What the call needs to go on is no longer kept. Make it again.');
        return toolbox.capabilities(
          tool,
          invocation,
          signal,
          configuration,
          this.progressOf(tool, invocation, connection),
          () => connection.credential(invocation.context, signal),
          this.runTools,
          resultBytesOf(tool.id, granting.evaluator, inForce.evaluator),
          {
            ...{ caller: this.callerOf(invocation, index, signal, limit), questions },
            budgets: this.budgetsOf(invocation),
            client: this.fromClient(index),
            ...(resume === undefined ? {} : { resume }),
          },
        );
      },
      questions: () => questions.list(),
      round: this.roundOf(index),
      askedAt: () => questions.soFar.askedAt,
      keepWaiting: ({ toolId, callKey }, state) =>
        isClientTool(toolId)
          ? new ClientCalls(runtime).keepArguments(callKey, JSON.stringify(state['arguments']))
          : new CallerForms(runtime).park(runOfRecord(record), { state, ...questions.soFar }),
      cached: (tool, invocation, args) => toolbox.cached(tool, invocation, args, configuration),
      keepAnswer: ({ context: { tenantId, runId } }, answer) =>
        keepAnswer(record, { tenantId, runId }, answer, runtime),
      keepResult: ({ context: { tenantId, runId } }, type, text) =>
        keepResult({ tenantId, runId }, type, text, runtime),
      contentBytes: runtime.environment.content?.maxBytes ?? contentByDefault.maxBytes,
      hashResult: (_, json) => runtime.signatures.keyedHash('executor', hashedResult(record, index, json)),
      conceal: (tool, result) => connection.conceal(tool, result, record.requestId),
      past: (asked, caller, at, callKey) => readPast(asked, caller, at, runtime.past, callKey),
      lists: (asked, caller) => toolbox.lists.answers(asked, caller, [inForce.configuration, configuration]),
      foresee: () => Promise.resolve({ ok: true }),
      beginAgent: async (invocation, counted) => {
        await this.ownCall?.keep();
        // It runs as long as its own run may, with what that waits for people.
        const now = clock.now();
        const waited = longestWaitMs(invocation.toolId, record, [granting.evaluator, inForce.evaluator], now);
        const timeoutMs = record.run.deadline - now + waited;
        const begun = await reserve(counted, { ...invocation, timeoutMs }, null, runtime);
        return begun.kind === 'refused' ? begun.verdict : { ok: true };
      },
      once: async (tool, invocation, effect, ask, connect, counted) => {
        const claims = this.claims(invocation, index, counted);
        const whenKept = await this.kept(tool, effect, counted !== null);
        const result = await toolbox.changing(tool, [granting.configuration, inForce.configuration], () =>
          effectOnce(tool, invocation, claims, whenKept, ask, connect),
        );
        if (counted !== null && result === 'waits') await this.keepRunning(invocation);
        return result;
      },
      begun: (invocation) => this.begun(invocation, index),
      onStart: (invocation, args) =>
        progress.start(invocation.context.toolCallId, invocation.toolId, JSON.stringify(args)),
      onParked: ({ context, toolId }, parked) =>
        progress.say('tool_progress', context.toolCallId, toolId, waitsFor(parked)),
      // What no author meant for the model, and only a person can mend.
      onFault: ({ id }, { context }, at, error) =>
        log.warn(
          {
            ...{ request_id: context.runId, tool_call_id: context.toolCallId },
            ...{ tool: granting.evaluator.byId(id)?.key ?? id, at },
            error: hideSecrets(connection.concealing.text(faultText(error))),
          },
          'a tool failed; the model hears that it did, and not why',
        ),
      onReconciled: ({ toolId, context }, answer) => {
        const tool = granting.evaluator.byId(toolId)?.key ?? otherLabel;
        runtime.metrics.reconciledCalls.inc({ tool, answer });
        log.warn(
          { request_id: context.runId, tool_call_id: context.toolCallId, tool, answer },
          'the end of a call was not known, and the tool was asked whether it took effect',
        );
      },
      onResult: (invocation, result) => progress.result(invocation.toolId, result),
      onCancel: (_, cancel) => lookForCancel(record, runtime, cancel),
      after: (milliseconds, action) => {
        const timer = setTimeout(action, milliseconds);
        return () => clearTimeout(timer);
      },
    };
  }
}

function waitsFor(parked: ParkedCall): string {
  if (parked.kind === 'approval' && parked.asking.question !== null) return 'waits for an answer of its caller';
  return parked.kind === 'approval'
    ? `waits for the approval ${parked.asking.approvalId}`
    : `runs as an agent of its own: ${parked.handing.agentRunId}`;
}

/** For a trace: the codes, never a word of the call. A call that waits for an approval or an agent has not failed. */
function spanEnd(end: CallEnd<ParkedCall>): SpanEnd | null {
  if (end.kind === 'parked') {
    const { parked } = end;
    const reason =
      parked.kind === 'agent'
        ? 'agent_pending'
        : parked.asking.question === null
          ? 'approval_pending'
          : 'question_pending';
    return { attributes: { 'sluice.reason': reason } };
  }
  if (end.result.ok) return null;
  const { errorCode, reason } = end.result;
  return { attributes: reason === undefined ? {} : { 'sluice.reason': reason }, error: errorCode };
}
