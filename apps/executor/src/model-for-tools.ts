import type { ModelRequest, ModelSettings, ModelTurn, ToolInvocation } from '@sluice/core';
import { Fault, modelName, utf8Length } from '@sluice/core';
import { askInOrder, ModelRest } from '@sluice/model';
import type { ModelSource } from '@sluice/model';
import {
  chatSpan,
  measureBudgetRefusal,
  measureFailure,
  measureLeftOut,
  measureSkippedModels,
  measureTurn,
  usage,
} from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { reserveModelCall } from '@sluice/run';
import type { BudgetParts } from '@sluice/run';

/** The models as calls of tools ask them: in their order, traced and counted as the agent’s turns are. */
export class ModelForTools {
  private readonly rest: ModelRest;

  constructor(
    private readonly models: ModelSource,
    private readonly runtime: Pick<Runtime, 'clock' | 'log' | 'metrics' | 'past' | 'traces'>,
  ) {
    this.rest = new ModelRest(() => runtime.clock.now());
  }

  /**
   * The turn of the first of them that answers, and which one that is. Throws NoBudget where a budget with a span has
   * no room for it.
   */
  async ask(
    models: readonly ModelSettings[],
    request: Pick<ModelRequest, 'instructions' | 'question'>,
    signal: AbortSignal,
    invocation: ToolInvocation,
    budgets: BudgetParts,
  ): Promise<{ readonly turn: ModelTurn; readonly settings: ModelSettings }> {
    const { log, metrics, traces } = this.runtime;
    const whole = { ...request, state: '', history: [], tools: [], toolChoice: { type: 'auto' } } as const;
    // No token has less than a byte.
    const bytes = utf8Length(request.instructions) + utf8Length(request.question);
    const ask = async (settings: ModelSettings): Promise<ModelTurn> => {
      const model = await this.models.get(settings);
      const bound = () => Promise.resolve({ inputTokens: bytes, outputTokens: settings.maxOutputTokens });
      const reserved = await reserveModelCall(budgets, settings, bound, this.runtime);
      if (reserved.kind === 'refused') {
        measureBudgetRefusal(reserved, metrics);
        throw new NoBudget(reserved.end.message);
      }
      const asked = traces.span(
        () => chatSpan(settings, invocation.context.sessionId),
        async (end) => {
          const turn = await this.measured(settings, signal, invocation, () => model.turn(whole, { signal }));
          end({ attributes: usage(turn) });
          return turn;
        },
      );
      const turn = await asked.catch(async (error: unknown) => {
        // What an abandoned call used is not known, so it counts as what it reserved.
        if (error instanceof Fault && !signal.aborted) await reserved.unused();
        throw error;
      });
      await reserved.used(turn);
      return turn;
    };
    return askInOrder(models, ask, {
      rest: this.rest,
      onPassedOver: (settings, { message }) => {
        measureSkippedModels(settings, metrics);
        log.warn({ model: modelName(settings), why: message }, 'the next model of the list is asked');
      },
      onLeftOut: (settings) => measureLeftOut(settings, metrics),
    });
  }

  /** Counted as the agent's turns are, and at once: also a call whose record comes again was one to the provider. */
  private async measured(
    model: ModelSettings,
    signal: AbortSignal,
    invocation: ToolInvocation,
    ask: () => Promise<ModelTurn>,
  ): Promise<ModelTurn> {
    const { clock, metrics } = this.runtime;
    const startedAt = clock.now();
    const seconds = (): number => (clock.now() - startedAt) / 1_000;
    try {
      const turn = await ask();
      measureTurn(turn, seconds(), model, metrics);
      return turn;
    } catch (error) {
      // A service that gives the record up is no failure of the model; a call whose time is up is one.
      if (!invocation.signal.aborted)
        measureFailure(signal.aborted ? noAnswer(error) : error, seconds(), model, metrics);
      throw error;
    }
  }
}

/** A budget with a span has no room for the model call. */
export class NoBudget extends Error {}

function noAnswer(cause: unknown): Fault {
  return new Fault('model_unreachable', 'The model did not answer in the time of the call.', true, { cause });
}
