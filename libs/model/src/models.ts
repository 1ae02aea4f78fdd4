import { Fault } from '@sluice/core';
import type { Model, ModelSettings } from '@sluice/core';
import { createModel } from './create-model.js';

/** Where services get the model that the configuration names. */
export interface ModelSource {
  get(settings: ModelSettings): Promise<Model>;
}

/** The models in use, made once for equal settings. */
export class Models implements ModelSource {
  private readonly made = new Map<string, Promise<Model>>();

  constructor(private readonly secret: (variable: string) => string | undefined) {}

  /**
   * Rejects with Fault('model_refused') if the settings cannot work, such as a key that is not there; asked again, it
   * tries again.
   */
  get(settings: ModelSettings): Promise<Model> {
    const key = JSON.stringify(settings);
    let model = this.made.get(key);
    if (model === undefined) {
      model = createModel(settings, { secret: this.secret }).catch((error: unknown) => {
        this.made.delete(key);
        throw new Fault('model_refused', (error as Error).message, false, { cause: error });
      });
      this.made.set(key, model);
    }
    return model;
  }
}
