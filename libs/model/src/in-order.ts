import { Fault, modelName, type ModelSettings } from '@sluice/core';

/** A model that was asked and gave no turn. */
export interface PassedOver {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

/** A turn, whose it is, and who gave none before. */
export interface AskedTurn<Turn> {
  readonly turn: Turn;
  readonly settings: ModelSettings;
  readonly passedOver: readonly PassedOver[];
}

/**
 * Asks one model after another until one gives its turn. The next one is asked where a model is out of reach or has no capacity, which may
 * pass; what it refuses for good, and a key that is not there, are for the operator to mend. Each turn begins with the first again.
 */
export async function askInOrder<Turn>(
  models: readonly ModelSettings[],
  ask: (settings: ModelSettings) => Promise<Turn>,
  onPassedOver: (settings: ModelSettings, fault: Fault) => void,
): Promise<AskedTurn<Turn>> {
  const passedOver: PassedOver[] = [];
  for (const [place, settings] of models.entries()) {
    try {
      return { turn: await ask(settings), settings, passedOver };
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'model_unreachable') throw error;
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

function withOthers(fault: Fault, passedOver: readonly PassedOver[]): Fault {
  if (passedOver.length === 0) return fault;
  const names = passedOver.map(({ name }) => name).join(', ');
  return new Fault(fault.code, `${fault.message} Neither could ${names}.`, fault.retryable, {
    cause: fault,
    ...briefOf(fault),
  });
}
