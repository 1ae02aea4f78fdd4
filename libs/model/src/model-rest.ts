import { modelName, type ModelSettings } from '@sluice/core';

/**
 * How long a model is left out, how long a failure takes that leaves it out at once, and how many in a row do so;
 * milliseconds.
 */
const restMs = 30_000;
const longMs = 10_000;
const mostFailures = 3;

interface State {
  failures: number;
  /** Until when it is left out; 0 for a model that is asked. */
  until: number;
}

/**
 * Which models are left out for a while, since they hang or fail again and again: no turn waits for one of these
 * while there is another. After that time one turn asks it; if it fails once more, it is left out again.
 */
export class ModelRest {
  private readonly states = new Map<string, State>();

  constructor(private readonly now: () => number) {}

  /**
   * True while others should be asked. The first one that comes after that time gets false, and the next ones true
   * until it knows.
   */
  isResting(settings: ModelSettings): boolean {
    const state = this.states.get(keyOf(settings));
    if (state === undefined || state.until === 0) return false;
    if (this.now() < state.until) return true;
    state.until = this.now() + restMs;
    return false;
  }

  /** An ask that begins now. One that ends `open`, as with a key that is refused, says nothing. */
  begin(settings: ModelSettings): { ended(how: 'answered' | 'failed' | 'open'): void } {
    const begun = this.now();
    return {
      ended: (how) => {
        const key = keyOf(settings);
        if (how === 'answered') this.states.delete(key);
        if (how !== 'failed') return;
        const state = this.states.get(key) ?? { failures: 0, until: 0 };
        state.failures += 1;
        const isOut = this.now() - begun >= longMs || state.failures >= mostFailures;
        if (isOut) state.until = this.now() + restMs;
        this.states.set(key, state);
      },
    };
  }
}

/** A model at its address: the same one elsewhere may be well. */
function keyOf(settings: ModelSettings): string {
  return JSON.stringify([modelName(settings), settings.baseUrl, settings.region]);
}
