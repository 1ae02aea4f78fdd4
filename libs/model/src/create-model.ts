import type { Model, ModelSettings } from '@sluice/core';
import { createRuleModel } from './rules/rule-model.js';

/** What a model is given from outside, so that nothing here reads the environment. */
interface ModelDependencies {
  /** The value of an environment variable, or undefined where it is not set. */
  readonly secret: (variable: string) => string | undefined;
}

/**
 * The model that the configuration names. The libraries of the providers are loaded only when one of them is asked for,
 * so the built-in model costs nothing of them.
 * Throws a plain Error that says what to set: a missing key, name, base URL or region.
 */
export async function createModel(settings: ModelSettings, given: ModelDependencies): Promise<Model> {
  switch (settings.provider) {
    case 'rules':
      return createRuleModel();
    case 'openai-compatible':
      return (await import('./provider/openai-compatible.js')).createOpenAiCompatibleModel(settings, given.secret);
    case 'openai-responses':
      return (await import('./provider/openai-responses.js')).createOpenAiResponsesModel(settings, given.secret);
    case 'anthropic':
      return (await import('./provider/anthropic.js')).createAnthropicModel(settings, given.secret);
    case 'google':
      return (await import('./provider/google.js')).createGoogleModel(settings, given.secret);
    case 'bedrock':
      return (await import('./provider/bedrock.js')).createBedrockModel(settings, given.secret);
    case 'bedrock-anthropic':
      return (await import('./provider/bedrock.js')).createBedrockAnthropicModel(settings, given.secret);
  }
}
