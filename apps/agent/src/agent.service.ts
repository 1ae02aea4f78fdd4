import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import {
  Fault,
  isAsChosen,
  modelName,
  promptHash,
  sampledSettings,
  tokenSum,
  utf8Length,
  whyIncomplete,
} from '@sluice/core';
import type {
  Configuration,
  Limits,
  ModelRequest,
  ModelSettings,
  ModelTurn,
  ToolChoice,
  TurnTokens,
} from '@sluice/core';
import { sha256, topics } from '@sluice/contracts';
import type { Run, StrategyDecision, Toolset, TurnModel } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import {
  answer,
  answerInvalid,
  asDeadLettered,
  asWritten,
  boundedTurn,
  budgetPartsOf,
  cancelledTurn,
  cancelOf,
  directTurn,
  endedBy,
  endRun,
  isTurnClaimed,
  keptTo,
  ledByToolset,
  loadedFor,
  modelCallName,
  modelRequestOf,
  modelsOfRun,
  nextMove,
  outOfTime,
  pastCallerOf,
  redrivenFrom,
  reserveModelCall,
  runOfRecord,
  searchedRequestOf,
  signTurn,
  spanBudgetUsed,
  agentOf,
  claimTurn,
  contentTokens,
  verifyGrant,
  verifyRecord,
  turnModel,
  wasHandled,
  withReminder,
  withTokens,
  withTools,
} from '@sluice/run';
import type {
  BudgetParts,
  BudgetRefusal,
  CountedTokens,
  Cancelled,
  Loaded,
  Move,
  ReservedModelCall,
} from '@sluice/run';
import {
  chatSpan,
  lookForCancel,
  measureBudgetRefusal,
  measureFailure,
  measureLeftOut,
  measureSkippedModels,
  measurePrompt,
  measureTurn,
  RUNTIME,
  usage,
} from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { askInOrder, briefOf, ModelRest } from '@sluice/model';
import type { ModelSource } from '@sluice/model';
import { checkedUsage, requestTokens, TokenCounter } from '@sluice/tokens';
import { GivenContents } from './given-content.js';
import { AnswerInvalid, heldAnswer } from './held-answer.js';
import type { Reply } from './held-answer.js';
import { ProgressText } from './progress.js';
import { RetryNotice } from './retry-notice.js';
import { ShownTools } from './shown-tools.js';

/** The token under which Nest injects where models come from. */
export const MODELS = Symbol('models');

/** A turn, and the model that took it. */
interface TakenTurn extends ModelTurn {
  readonly model: TurnModel | null;
  /** The answer as JSON text, where it has to fit a schema. */
  readonly structured: string | null;
  /** Why the answer ends the run with an error: it does not fit its schema. Null where it does not. */
  readonly invalid: string | null;
}

/** A turn, and what stood in the budgets with a span before it. */
interface AskedTurn {
  readonly turn: ModelTurn;
  readonly budgets: ReservedModelCall['budgets'];
}

/** The run’s time was up before a model’s turn came: no model is asked after that. */
class TimeUp extends Error {}

/** The run was cancelled before a model’s turn came: no model is asked after that. */
class WasCancelled extends Error {
  constructor(readonly cancelled: Cancelled) {
    super(cancelled.message);
  }
}

/** A budget with a span had no room for a call of a model: no model is asked after that. */
class BudgetUsed extends Error {
  constructor(readonly refusal: BudgetRefusal) {
    super(refusal.end.message);
  }
}

/** What all requests of one turn have in common. */
interface Asking {
  readonly toolset: Toolset;
  readonly limits: Limits;
  readonly context: HandlerContext;
  /** The tokens of the prompt, which are counted while the model is at work. */
  readonly counting: Promise<CountedTokens | undefined>;
  readonly budgets: BudgetParts;
}

/**
 * One turn of a run: what its strategy makes of it. The question and what was observed go to the model, and calls or
 * an answer come back; or a planned call is made.
 */
@Injectable()
export class AgentService implements OnModuleDestroy {
  private readonly shownTools: ShownTools;
  private readonly contents: GivenContents;
  private readonly counter = new TokenCounter();
  private readonly rest: ModelRest;
  /** Models whose tokens were counted here. The log says so once for each. */
  private readonly miscounting = new Set<string>();

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(MODELS) private readonly models: ModelSource,
  ) {
    this.shownTools = new ShownTools(runtime, this.counter);
    this.contents = new GivenContents(runtime);
    this.rest = new ModelRest(() => runtime.clock.now());
  }

  async onModuleDestroy(): Promise<void> {
    await this.shownTools.close();
  }

  async takeTurn(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { clock, configurations } = this.runtime;
    const { record } = message;
    // A turn that had ended its run goes back to the filter, so what comes here is taken as any other, but only once.
    const redriven = await redrivenFrom(message, context, this.runtime);
    // An expired grant is the executor’s affair, since an answer needs none.
    await verifyGrant(record, this.runtime);
    await verifyRecord(asDeadLettered(message, redriven), this.runtime);
    // Before the model is asked: a copy of the record costs nothing, and ends no run a second time.
    const { isAgain } = await claimTurn(message, this.runtime);
    if (isAgain && context.attempt === 1 && (await this.wasHandled(message, context))) return [];
    const cancelled = await cancelOf(record, this.runtime);
    if (cancelled !== null) return this.endCancelled(message, record.run, cancelled, context);
    if (clock.now() >= record.run.deadline) return this.outOfTime(message, context);

    const notice = new RetryNotice(record, context, this.runtime);
    const loaded = loadedFor(await configurations.version(record.configVersion), record.request);
    const toolset = withTools(record, loaded.evaluator);
    const direct = directTurn(toolset, loaded.evaluator);
    const move = nextMove(toolset, loaded.evaluator);
    const decision = move.kind === 'react' ? null : move.decision;
    const made = direct ?? (move.kind === 'call' ? move.turn : null);
    const turn =
      made === null
        ? await this.ask(toolset, loaded, move, context)
        : { ...made, model: null, structured: null, invalid: null };
    await notice.clear();
    if (turn === null) return this.outOfTime(message, context);
    if (turn instanceof WasCancelled) return this.endCancelled(message, toolset.run, turn.cancelled, context);
    if (turn instanceof BudgetUsed) return this.endBudgetUsed(message, turn.refusal, context);
    if (decision !== null) context.afterCommit(() => this.measureDecision(decision));

    const run = withTokens(toolset.run, turn, modelsOfRun(toolset.run, loaded.evaluator));
    if (turn.invalid !== null) return this.endInvalid(message, run, turn.invalid, context);
    if (turn.answer !== null) {
      const late = await cancelOf(toolset, this.runtime);
      if (late !== null) return this.endCancelled(message, run, late, context);
      const { model, structured } = turn;
      // No words beside an answer that has to fit a schema.
      const text = structured === null ? (keptTo(move, turn).answer ?? turn.answer) : turn.answer;
      const response = answer(
        toolset,
        run,
        { answer: text, model, decision, incomplete: turn.incomplete ?? null, structured },
        clock.now(),
      );
      return endRun(response, toolset.request, endedBy(message, run), context, this.runtime);
    }
    return [
      {
        topic: topics.toolCalls,
        key: toolset.sessionId,
        record: await signTurn(
          boundedTurn(
            toolset,
            run,
            { ...keptTo(move, turn), model: turn.model, decision },
            loaded.configuration.limits,
          ),
          this.runtime,
        ),
      },
    ];
  }

  /** Whether the turn was taken to its end before: its calls are on the log, or the run’s end. */
  private wasHandled(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<boolean> {
    const { record } = message;
    const isTaken = () => isTurnClaimed(topics.toolCalls, record, this.runtime);
    const run = { run: runOfRecord(record), attempt: record.run.redrive, sessions: [record.sessionId] };
    return wasHandled({ message, ...run, isTaken, led: ledByToolset(record.iteration) }, context, this.runtime);
  }

  /**
   * The turn of the first model that gives one; null if the run's time was up before it came, or that the run was
   * cancelled, or that a budget with a span has no room for it.
   */
  private async ask(
    toolset: Toolset,
    { configuration, evaluator }: Loaded,
    move: Move,
    context: HandlerContext,
  ): Promise<TakenTurn | WasCancelled | BudgetUsed | null> {
    // A turn for one thing shows what that takes.
    const shown =
      move.kind === 'react'
        ? await this.shownTools.choose(toolset, searchedRequestOf(toolset, evaluator), configuration)
        : null;
    const ids = shown?.ids ?? null;
    const asked = modelRequestOf(toolset, evaluator, ids, move, shown?.isSearched ?? false);
    const { request } = asked;
    const models = modelsOfRun(toolset.run, evaluator);
    const counting = this.count(request, models[0], configuration);
    const caller = pastCallerOf({ principal: toolset.run.principal, agent: agentOf(toolset, evaluator) }, toolset);
    const budgets = budgetPartsOf(evaluator, caller, await modelCallName(toolset, this.runtime));
    const asking = { toolset, limits: configuration.limits, context, counting, budgets };
    try {
      const {
        turn: reply,
        settings,
        passedOver,
      } = await askInOrder(models, (one) => this.askHeld(one, request, move, asking), {
        rest: this.rest,
        onPassedOver: (one, fault) => this.passOver(one, fault),
        onLeftOut: (one) => measureLeftOut(one, this.runtime.metrics),
      });
      const { turn, reminder, structured, budgets: states } = reply;
      if (shown !== null) context.afterCommit(() => this.shownTools.end(shown, turn));
      const counted = await counting;
      if (counted !== undefined) context.afterCommit(() => measurePrompt(counted, settings, this.runtime.metrics));
      const model = turnModel(asked, modelName(settings), passedOver, ids, counted, reminder, states);
      return { ...turn, model, structured, invalid: null };
    } catch (error) {
      if (error instanceof TimeUp) return null;
      if (error instanceof AnswerInvalid) {
        const model = turnModel(asked, modelName(error.settings), [], ids, await counting);
        return { ...error.turn, model, structured: null, invalid: error.message };
      }
      if (error instanceof WasCancelled || error instanceof BudgetUsed) return error;
      throw context.signal.aborted ? error : askedUntil(toolset.run.deadline, error);
    }
  }

  /**
   * While the model is at work. What is counted is for people: a fault in it is no fault of the turn. The model of
   * rules reads no tokens.
   */
  private async count(
    request: ModelRequest,
    model: ModelSettings,
    { descriptions }: Configuration,
  ): Promise<CountedTokens | undefined> {
    if (model.provider === 'rules' && descriptions === undefined) return undefined;
    try {
      const { definitions, results, other, tokenizer } = await requestTokens(request, modelName(model), this.counter);
      // Content by a guess, the question’s too: most of it is of results.
      const resultTokens = results + contentTokens(request, model);
      return { definitionTokens: definitions, resultTokens, otherTokens: other, tokenizer };
    } catch (error) {
      this.runtime.log.warn({ error: (error as Error).message }, 'the tokens of a turn could not be counted');
      return undefined;
    }
  }

  /** As `askWithReminder`; where the answer has to fit a schema, with one that does. */
  private async askHeld(settings: ModelSettings, request: ModelRequest, move: Move, asking: Asking): Promise<Reply> {
    const reply = { ...(await this.askWithReminder(settings, request, move, asking)), structured: null };
    const { answerSchema } = request;
    if (answerSchema === undefined) return reply;
    const askAgain = (reminder: string) => this.askWithin(settings, withReminder(request, reminder), asking);
    return heldAnswer(answerSchema, settings, reply, askAgain);
  }

  /**
   * Tells a model that did not call what the run’s strategy wants, and asks it once more: not every provider holds to
   * tool_choice.
   */
  private async askWithReminder(
    settings: ModelSettings,
    request: ModelRequest,
    move: Move,
    asking: Asking,
  ): Promise<AskedTurn & { readonly reminder: string | null }> {
    try {
      return { ...(await this.askWithin(settings, request, asking)), reminder: null };
    } catch (error) {
      if (!(error instanceof NotAsChosen) || move.kind !== 'ask') throw error;
      const reminder = `${error.missing} Your last reply was not taken. Reply with that call, and nothing else.`;
      const { turn, budgets } = await this.askWithin(settings, withReminder(request, reminder), asking);
      // The tokens of both replies are the turn’s.
      return { turn: { ...turn, ...tokenSum(turn, error.turn) }, reminder, budgets };
    }
  }

  /** Reserves the most that a model may use in the budgets with a span, asks it, and gives back the rest. */
  private async askWithin(settings: ModelSettings, request: ModelRequest, asking: Asking): Promise<AskedTurn> {
    const bound = (): Promise<TurnTokens> => mostTokens(request, settings, asking);
    const reserved = await reserveModelCall(asking.budgets, settings, bound, this.runtime);
    if (reserved.kind === 'refused') {
      asking.context.afterCommit(() => measureBudgetRefusal(reserved, this.runtime.metrics));
      throw new BudgetUsed(reserved);
    }
    let turn: ModelTurn;
    try {
      turn = await this.askOne(settings, request, asking);
    } catch (error) {
      if (error instanceof NotAsChosen) await reserved.used(error.turn);
      // What an abandoned call used is not known, so it counts as what it reserved.
      else if (error instanceof Fault && !(error instanceof NoAnswer)) await reserved.unused();
      throw error;
    }
    await reserved.used(turn);
    return { turn, budgets: reserved.budgets };
  }

  private async askOne(
    settings: ModelSettings,
    request: ModelRequest,
    { toolset, limits, context, counting }: Asking,
  ): Promise<ModelTurn> {
    const model = await this.models.get(settings);
    const { clock, metrics } = this.runtime;
    const startedAt = clock.now();
    const seconds = (): number => (clock.now() - startedAt) / 1_000;
    const timeLeft = toolset.run.deadline - startedAt;
    // Not AbortSignal.timeout and any: what they hold would stay until the time is up, long after the model answered.
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), Math.max(1, Math.min(timeLeft, limits.modelMs)));
    const giveUp = (): void => patience.abort(context.signal.reason);
    context.signal.addEventListener('abort', giveUp, { once: true });
    const stopLooking = lookForCancel(toolset, this.runtime, (found) => patience.abort(new WasCancelled(found)));
    const progress = new ProgressText(toolset, randomUUID(), context, this.runtime.clock);
    try {
      const options = { signal: patience.signal, onText: (piece: string) => progress.add(piece) };
      const chat = () => chatSpan(settings, toolset.sessionId, promptHash(request, modelName(settings), sha256));
      const taken = await this.runtime.traces.span(chat, async (end) => {
        const ask = (): Promise<ModelTurn> =>
          this.contents.with(request, settings, toolset, patience.signal, (given) =>
            model.turn(request, given === undefined ? options : { ...options, given }),
          );
        const answered = asWritten(await (context.aside?.(ask) ?? ask()));
        const turn = await this.counted(answered, settings, await counting);
        end({ attributes: usage(turn) });
        this.sayBeside(turn);
        if (!isAsChosen(request.toolChoice, turn.calls))
          throw notAsChosen(model.name, request.toolChoice, toolset, turn);
        return turn;
      });
      const took = seconds();
      context.afterCommit(() => measureTurn(taken, took, settings, metrics));
      return taken;
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (patience.signal.reason instanceof WasCancelled) throw patience.signal.reason;
      const failure = patience.signal.aborted ? noAnswer(limits, error) : error;
      measureFailure(failure, seconds(), settings, metrics);
      if (patience.signal.aborted && clock.now() >= toolset.run.deadline) throw new TimeUp();
      throw failure;
    } finally {
      clearTimeout(timer);
      stopLooking();
      context.signal.removeEventListener('abort', giveUp);
      progress.flush();
    }
  }

  /** The turn with tokens that its text can have: a budget must hold with a server that reports none, or too few. */
  private async counted(
    turn: ModelTurn,
    settings: ModelSettings,
    prompt: CountedTokens | undefined,
  ): Promise<ModelTurn> {
    if (settings.provider === 'rules' || prompt === undefined) return turn;
    const { definitionTokens, resultTokens, otherTokens } = prompt;
    const sent = (definitionTokens ?? 0) + (resultTokens ?? 0) + (otherTokens ?? 0);
    const name = modelName(settings);
    const checked = await checkedUsage(turn, sent, name, this.counter);
    const isReported = checked.inputTokens === turn.inputTokens && checked.outputTokens === turn.outputTokens;
    if (!isReported && !this.miscounting.has(name)) {
      this.miscounting.add(name);
      const { inputTokens, outputTokens } = turn;
      const why = 'the model reports no tokens, or a number that its text cannot have, so Sluice counts them itself';
      this.runtime.log.warn({ model: name, input_tokens: inputTokens, output_tokens: outputTokens }, why);
    }
    return { ...turn, ...checked };
  }

  private measureDecision({ strategy, action, score }: StrategyDecision): void {
    const { strategyDecisions, stepConfidence } = this.runtime.metrics;
    strategyDecisions.inc({ strategy, action });
    if (score !== null) stepConfidence.observe({ kind: score.kind }, score.confidence);
  }

  private passOver(settings: ModelSettings, { message }: Fault): void {
    measureSkippedModels(settings, this.runtime.metrics);
    this.runtime.log.warn({ model: modelName(settings), why: message }, 'the next model of the list is asked');
  }

  /** Which kinds of things came that a turn has no place for; never what they hold. */
  private sayBeside({ raw }: ModelTurn): void {
    if (raw === undefined) return;
    const kinds = Object.fromEntries([...Map.groupBy(raw, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]));
    this.runtime.log.debug({ kinds }, 'the model sent more than text and calls, which is not kept');
  }

  private endCancelled(
    message: Incoming<'agent.toolsets'>,
    run: Run,
    cancelled: Cancelled,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { record: toolset } = message;
    const response = cancelledTurn(toolset, run, cancelled, this.runtime.clock.now());
    return endRun(response, toolset.request, endedBy(message, run), context, this.runtime);
  }

  private endBudgetUsed(
    message: Incoming<'agent.toolsets'>,
    refusal: BudgetRefusal,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { record: toolset } = message;
    const response = spanBudgetUsed(toolset, refusal, this.runtime.clock.now());
    return endRun(response, toolset.request, endedBy(message, toolset.run), context, this.runtime);
  }

  private endInvalid(
    message: Incoming<'agent.toolsets'>,
    run: Run,
    why: string,
    context: HandlerContext,
  ): Promise<readonly Outgoing[]> {
    const { record: toolset } = message;
    const response = answerInvalid(toolset, run, why, this.runtime.clock.now());
    return endRun(response, toolset.request, endedBy(message, run), context, this.runtime);
  }

  private outOfTime(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record: toolset } = message;
    const response = outOfTime(toolset, this.runtime.clock.now());
    return endRun(response, toolset.request, endedBy(message, toolset.run), context, this.runtime);
  }
}

/** The most that a call may use: what it sends, and the longest reply. */
async function mostTokens(
  request: ModelRequest,
  settings: ModelSettings,
  { counting }: Pick<Asking, 'counting'>,
): Promise<TurnTokens> {
  const { maxOutputTokens } = sampledSettings(settings, request.sampling);
  const counted = await counting;
  // Where the count failed, no token has less than a byte.
  if (counted === undefined) return { inputTokens: utf8Length(JSON.stringify(request)), outputTokens: maxOutputTokens };
  const { definitionTokens, resultTokens, otherTokens } = counted;
  return {
    inputTokens: (definitionTokens ?? 0) + (resultTokens ?? 0) + (otherTokens ?? 0),
    outputTokens: maxOutputTokens,
  };
}

/** The model did not answer in time, and may be at work still. */
class NoAnswer extends Fault {}

function noAnswer(limits: Limits, cause: unknown): NoAnswer {
  return new NoAnswer('model_unreachable', `The model did not answer within ${limits.modelMs / 1_000} s.`, true, {
    cause,
    brief: `it did not answer within ${limits.modelMs / 1_000} s`,
  });
}

/**
 * No call of such a turn is made, and its text is no answer: one that looked nothing up must not pass for one that
 * did.
 */
class NotAsChosen extends Fault {
  constructor(
    message: string,
    /** What is missing, for the model. */
    readonly missing: string,
    readonly turn: ModelTurn,
  ) {
    super('model_refused', message, false);
  }
}

function notAsChosen(name: string, choice: ToolChoice, { run }: Pick<Toolset, 'run'>, turn: ModelTurn): NotAsChosen {
  const wanted = choice.type === 'tool' ? `the tool ${choice.id}` : 'a tool';
  const [who, what] =
    run.strategy === null || run.strategy.name === 'react'
      ? ['the request’s tool_choice wants it', 'leave tool_choice out']
      : [`the strategy ${run.strategy.name} wants it`, 'use another strategy'];
  const cut = turn.incomplete === undefined ? '' : ` ${whyIncomplete(turn.incomplete)}`;
  const message = `The model ${name} did not call ${wanted}, as ${who}: ${what}, or configure a model whose provider holds to it.${cut}`;
  return new NotAsChosen(message, `You did not call ${wanted}.`, turn);
}

/** A model that is away may come back, so it is asked again until the run’s time is up. */
function askedUntil(deadline: number, failure: unknown): unknown {
  if (!(failure instanceof Fault) || !failure.retryable) return failure;
  return new Fault(failure.code, failure.message, true, { cause: failure, until: deadline, ...briefOf(failure) });
}
