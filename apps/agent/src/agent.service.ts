import { Inject, Injectable } from '@nestjs/common';
import { Fault, isAsChosen, isJsonObject, promptHash, toolChoiceOf } from '@sluice/core';
import type { Configuration, JsonObject, ModelRequest, ModelTurn, ToolChoice } from '@sluice/core';
import { sha256, topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { answer, asWritten, boundedTurn, directTurn, instructionsFor, outOfTime, withTokens } from '@sluice/decisions';
import {
  chatSpan,
  endedBy,
  asGivenUp,
  endRun,
  measureFailure,
  measureTurn,
  redrivenFrom,
  RUNTIME,
  signTurn,
  takeTurn,
  usage,
  verifyGrant,
  verifyRecord,
} from '@sluice/service';
import type { Loaded, Runtime } from '@sluice/service';
import type { ModelSource } from '@sluice/model';
import { ProgressText } from './progress.js';

/** The token under which Nest injects where models come from. */
export const MODELS = Symbol('models');

/** One turn of the ReAct loop: the question and what was observed go to the model; calls or an answer come back. */
@Injectable()
export class AgentService {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(MODELS) private readonly models: ModelSource,
  ) {}

  async takeTurn(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { clock, configurations, metrics } = this.runtime;
    const { record: toolset } = message;
    // A turn that had ended its run goes back to the filter, so what comes here is taken as any other, but only once.
    const redriven = await redrivenFrom(message, context, this.runtime);
    // An expired grant is the executor’s affair, since an answer needs none.
    await verifyGrant(toolset, this.runtime);
    await verifyRecord(asGivenUp(message, redriven), this.runtime);
    // Before the model is asked: a copy of the record costs nothing, and ends no run a second time.
    await takeTurn(message, this.runtime);
    if (clock.now() >= toolset.run.deadline) return this.outOfTime(message, context);

    const loaded = await configurations.version(toolset.configVersion);
    const startedAt = clock.now();
    const direct = directTurn(toolset, loaded.evaluator);
    const turn = direct ?? (await this.ask(toolset, loaded, context));
    if (turn === null) return this.outOfTime(message, context);

    const seconds = (clock.now() - startedAt) / 1_000;
    if (direct === null) context.afterCommit(() => measureTurn(turn, seconds, loaded.configuration.model, metrics));
    const run = withTokens(toolset.run, turn);
    if (turn.answer !== null) {
      const response = answer(toolset, run, turn.answer, clock.now());
      return endRun(response, toolset.request, endedBy(message, run), context, this.runtime);
    }
    return [
      {
        topic: topics.toolCalls,
        key: toolset.sessionId,
        record: await signTurn(boundedTurn(toolset, run, turn, loaded.configuration.limits), this.runtime),
      },
    ];
  }

  /** The model's turn, or null if the run's time was up before it came. */
  private async ask(
    toolset: Toolset,
    { configuration, evaluator }: Loaded,
    context: HandlerContext,
  ): Promise<ModelTurn | null> {
    const model = await this.models.get(configuration.model);
    const request: ModelRequest = {
      instructions: instructionsFor(toolset.run, evaluator),
      question: toolset.request.question,
      state: toolset.state,
      history: toolset.request.history.map((step) => ({
        ...step,
        toolId: evaluator.tool(step.action)?.id ?? step.action,
      })),
      tools: toolset.tools.map(({ id, description, inputSchema }) => ({
        id,
        description,
        inputSchema: schemaOf(id, inputSchema),
      })),
      toolChoice: toolChoiceOf(toolset.toolChoice),
    };
    const { clock, metrics } = this.runtime;
    const startedAt = clock.now();
    const timeLeft = toolset.run.deadline - startedAt;
    // Not AbortSignal.timeout and any: what they hold would stay until the time is up, long after the model answered.
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), Math.max(1, Math.min(timeLeft, configuration.limits.modelMs)));
    const giveUp = (): void => patience.abort(context.signal.reason);
    context.signal.addEventListener('abort', giveUp, { once: true });
    const progress = new ProgressText(toolset, context, this.runtime.clock);
    try {
      const options = { signal: patience.signal, onText: (piece: string) => progress.add(piece) };
      const chat = () => chatSpan(configuration.model, toolset.sessionId, promptHash(request, sha256));
      return await this.runtime.traces.span(chat, async (end) => {
        const turn = asWritten(await model.turn(request, options));
        end({ attributes: usage(turn) });
        this.sayBeside(turn);
        if (!isAsChosen(request.toolChoice, turn.calls)) throw notAsChosen(model.name, request.toolChoice);
        return turn;
      });
    } catch (error) {
      if (context.signal.aborted) throw error;
      const failure = patience.signal.aborted ? noAnswer(configuration, error) : error;
      measureFailure(failure, (clock.now() - startedAt) / 1_000, configuration.model, metrics);
      if (patience.signal.aborted && clock.now() >= toolset.run.deadline) return null;
      throw askedUntil(toolset.run.deadline, failure);
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', giveUp);
      progress.flush();
    }
  }

  /** Which kinds of things came that a turn has no place for; never what they hold. */
  private sayBeside({ raw }: ModelTurn): void {
    if (raw === undefined) return;
    const kinds = Object.fromEntries([...Map.groupBy(raw, ({ kind }) => kind)].map(([kind, of]) => [kind, of.length]));
    this.runtime.log.debug({ kinds }, 'the model sent more than text and calls, which is not kept');
  }

  private outOfTime(message: Incoming<'agent.toolsets'>, context: HandlerContext): Promise<readonly Outgoing[]> {
    const { record: toolset } = message;
    const response = outOfTime(toolset, this.runtime.clock.now());
    return endRun(response, toolset.request, endedBy(message, toolset.run), context, this.runtime);
  }
}

function schemaOf(id: string, text: string): JsonObject {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (isJsonObject(schema)) return schema;
  throw new Fault(
    'schema_invalid',
    `The input schema of the tool ${id} is no JSON object, so the model was not asked.`,
    false,
  );
}

function noAnswer({ limits }: Configuration, cause: unknown): Fault {
  return new Fault('model_unreachable', `The model did not answer within ${limits.modelMs / 1_000} s.`, true, {
    cause,
  });
}

/** Nothing of such a turn is done or streamed: an answer that looked nothing up must not pass for one that did. */
function notAsChosen(name: string, choice: ToolChoice): Fault {
  const wanted = choice.type === 'tool' ? `the tool ${choice.id}` : 'a tool';
  const message = `The model ${name} did not call ${wanted}, as the request’s tool_choice wants it: leave tool_choice out, or configure a model whose provider holds to it.`;
  return new Fault('model_refused', message, false);
}

/** A model that is away may come back, so it is asked again until the run’s time is up. */
function askedUntil(deadline: number, failure: unknown): unknown {
  if (!(failure instanceof Fault) || !failure.retryable) return failure;
  return new Fault(failure.code, failure.message, true, { cause: failure, until: deadline });
}
