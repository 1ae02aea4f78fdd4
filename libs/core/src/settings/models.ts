import type { AgentSettings } from './agent-types.js';
import type { Configuration } from './configuration.js';
import type { ModelSettings } from './model-types.js';

/** The models of a configuration in the order in which they are asked. */
export function modelsOf({
  model,
  fallbacks = [],
}: Pick<Configuration, 'model' | 'fallbacks'>): readonly ModelSettings[] {
  return [model, ...fallbacks];
}

/** The models that a run asks, in order: first the one that its agent names, where it does. */
export function modelsFor(
  configuration: Pick<Configuration, 'model' | 'fallbacks'>,
  agent: Pick<AgentSettings, 'model'> | undefined,
): readonly [ModelSettings, ...ModelSettings[]] {
  const all = modelsOf(configuration);
  const own = all.find((one) => modelName(one) === agent?.model) ?? configuration.model;
  return [own, ...all.filter((one) => one !== own)];
}

/** What records, logs and metrics call a model: its provider and its name there. */
export function modelName({ provider, name }: Pick<ModelSettings, 'provider' | 'name'>): string {
  return name === null ? provider : `${provider}/${name}`;
}
