import type { ModelRest } from './model-rest.js';
import { Fault, modelName, type ModelSettings } from '@sluice/core';

/** A model that was asked and gave no turn. */
interface SkippedModel {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** A turn, whose it is, and who gave none before. */
interface AnsweredTurn<Turn> {
  readonly turn: Turn;
  readonly settings: ModelSettings;
  readonly passedOver: readonly SkippedModel[];
}

/** What is said of models that gave no turn, and which of them rest. */
interface InOrder {
  readonly rest: ModelRest;
  onPassedOver(settings: ModelSettings, fault: Fault): void;
  onLeftOut(settings: ModelSettings): void;
}

/**
 * Asks one model after another until one gives its turn. The next one is asked where a model is out of reach or has
 * no capacity, which may pass; what it refuses for good, and a key that is not there, are for the operator to mend.
 * Each turn begins with the first again, but for one that rests, as one that hangs: only where it is the last is it
 * asked.
 */
export async function askInOrder<Turn>(
  models: readonly ModelSettings[],
  ask: (settings: ModelSettings) => Promise<Turn>,
  { onPassedOver, onLeftOut, rest }: InOrder,
): Promise<AnsweredTurn<Turn>> {
  const passedOver: SkippedModel[] = [];
  for (const [place, settings] of models.entries()) {
    if (place < models.length - 1 && rest.isResting(settings)) {
      const name = modelName(settings);
      passedOver.push({
        name,
        code: 'model_unreachable',
        message: `The model ${name} is left out: it had just failed.`,
      });
      onLeftOut(settings);
      continue;
    }
    const asked = rest.begin(settings);
    try {
      const turn = await ask(settings);
      asked.ended('answered');
      return { turn, settings, passedOver };
    } catch (error) {
      const isAway = error instanceof Fault && error.code === 'model_unreachable';
      asked.ended(isAway ? 'failed' : 'open');
      if (!isAway) throw error;
      if (place === models.length - 1) throw withOthers(error, passedOver);
      passedOver.push({ name: modelName(settings), code: error.code, message: error.message });
      onPassedOver(settings, error);
    }
  }
  throw new Error('A configuration has at least one model.');
}

/** The words for callers, as a fault that stands for another one has them. */
export function briefOf({ brief }: Fault): { readonly brief?: string } {
  return brief === null ? {} : { brief };
}

function withOthers(fault: Fault, passedOver: readonly SkippedModel[]): Fault {
  if (passedOver.length === 0) return fault;
  const names = passedOver.map(({ name }) => name).join(', ');
  return new Fault(fault.code, `${fault.message} Neither could ${names}.`, fault.retryable, {
    cause: fault,
    ...briefOf(fault),
  });
}
